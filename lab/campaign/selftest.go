package main

import "context"

func selftest(ctx context.Context, root string, chosen []part) error { return nil }
