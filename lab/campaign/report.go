package main

func report(root string) error { return nil }
