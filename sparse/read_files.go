package sparse

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Files returns the paths of the files that [Read] opens for a source in a format: the documents of
// a folder, a file of images with its labels beside it, the sources of Go for goroot, none for
// synthetic ones. So a program can tell whether it is about to overwrite one of them. Errors: an
// unknown source or format, or one that can't be listed.
func Files(ctx context.Context, source string, format Format) ([]string, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := (&Options{Format: format}).check(); err != nil {
		return nil, err
	}
	if source == "goroot" {
		root := findGoroot(gorootPlaces(ctx))
		if root == "" {
			return nil, nil
		}
		files, _, _, err := listFiles(ctx, filepath.Join(root, "src"), ".go")
		return paths(files), err
	}
	if source == "synthetic" || strings.HasPrefix(source, "synthetic:") {
		return nil, nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	if !info.IsDir() {
		return withIDXLabels(ctx, source, info, format), nil
	}
	if format == FormatAuto || format == FormatIDX {
		if images := findIDX(source); images != "" {
			return append([]string{images}, idxLabels(images)...), nil
		}
	}
	files, loose, _, err := listFiles(ctx, source, "")
	if len(files) == 0 {
		files = loose
	}
	return paths(files), err
}

func paths(files []fileDocument) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.path)
	}
	return out
}

// withIDXLabels returns a file and, if it holds idx images, the files that may hold their labels.
// It reads nothing of a pipe.
func withIDXLabels(ctx context.Context, file string, info os.FileInfo, format Format) []string {
	labels := idxLabels(file)
	if labels == nil || format != FormatIDX && format != FormatAuto || !info.Mode().IsRegular() {
		return []string{file}
	}
	if format == FormatAuto {
		in, err := openInput(ctx, file, startMeter(nil, nil), nil)
		if err != nil {
			return []string{file}
		}
		defer in.close()
		if found, _, err := in.detect(); err != nil || found != FormatIDX {
			return []string{file}
		}
	}
	return append([]string{file}, labels...)
}
