package doors

func solverCases() map[string]testCase { return nil }
