package doors

func svmCases() map[string]testCase { return nil }
