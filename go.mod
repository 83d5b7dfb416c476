module github.com/gramengine/gram

go 1.26.8
