package main

import (
	"context"
	"time"
)

var storesPart = part{
	name: "stores", short: 10 * time.Second, long: 20 * time.Minute, prepare: prepareStores,
	about: "cluster's own tests of stores and schedules: late and stale listings, failures, kills, requests done twice",
}

func prepareStores(_ context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	tests := [][]string{
		{"-run", "TestSchedules|TestNthOperation|TestFlippedBytes|TestHidden", "./internal/chaos", "-schedules", "20000"},
		{"-run", "TestDrives", "./internal/chaos", "-drives", "300"},
		{"./store/...", "./work/..."},
		{"-run", "TestKilled|TestDriveKilled", "./internal/acceptance"},
	}
	if t.short {
		tests = [][]string{{"-run", "TestSchedules", "./internal/chaos", "-schedules", "500"}}
	}
	return func(ctx context.Context, number int64) error {
		if number >= int64(len(tests)) {
			return errDone
		}
		return t.goTest(ctx, "cluster", nil, append([]string{"-vet=off"}, tests[number]...))
	}, nil
}
