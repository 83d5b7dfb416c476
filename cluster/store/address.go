package store

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// place is what an address stands for. It holds no credentials.
type place struct {
	folder string   // of a folder, "" for a bucket
	bucket *url.URL // for gocloud.dev, without a path
	prefix string   // of all keys in the bucket
}

// parameters are those that addresses of buckets may have: what gocloud.dev takes, but for credentials.
var parameters = map[string][]string{
	"s3": {
		"region", "endpoint", "use_path_style", "s3ForcePathStyle", "disable_https", "hostname_immutable", "profile", "role",
		"anonymous", "dualstack", "fips", "accelerate", "ssetype", "kmskeyid", "rate_limiter_capacity",
		"request_checksum_calculation", "response_checksum_validation", "awssdk",
	},
	"gs":     {"anonymous", "universe_domain", "grpc", "zonal"},
	"azblob": {"storage_account", "domain", "protocol", "cdn", "localemu"},
	"mem":    nil,
}

const intoEnvironment = "credentials belong in the environment"

var errLooksSecret = errors.New("store: an address with what looks like a user, password or other credentials, " +
	"expected none: " + intoEnvironment)

// parse reads an address. One that may hold credentials is refused, whatever is wrong with it, and errors
// repeat nothing of which that isn't known to be false.
func parse(address string) (place, error) {
	if address == "" {
		return place{}, errors.New("store: no address, expected a folder or a URL such as s3://bucket/prefix")
	}
	if holdsCredentials(address) {
		return place{}, errLooksSecret
	}
	if !strings.Contains(address, "://") {
		return folderOf(address)
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Fragment != "" {
		return place{}, errors.New("store: an address with :// that is no URL, or has a user, password or fragment, " +
			"expected none: " + intoEnvironment)
	}
	if u.Scheme == "file" {
		if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Path == "" {
			return place{}, errors.New("store: a file:// address with a machine or parameters, or without a folder, " +
				"expected file:///FOLDER")
		}
		return folderOf(u.Path)
	}
	allowed, known := parameters[u.Scheme]
	if !known {
		return place{}, fmt.Errorf("store: a %s:// address, expected file, s3, gs or azblob", u.Scheme)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return place{}, fmt.Errorf("store: a %s:// address with parameters that can't be read", u.Scheme)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case len(allowed) == 0:
			return place{}, fmt.Errorf("store: a %s:// address with parameters, expected none", u.Scheme)
		case !slices.Contains(allowed, name):
			return place{}, fmt.Errorf("store: a %s:// address with a parameter that isn't one of %s", u.Scheme,
				strings.Join(allowed, ", "))
		}
	}
	if e, err := url.Parse(query.Get("endpoint")); err != nil || e.User != nil || e.RawQuery != "" || e.Fragment != "" {
		return place{}, errors.New("store: an endpoint that isn't one, expected http://HOST:PORT")
	}
	if u.Scheme != "mem" && (u.Host == "" || strings.Contains(u.Host, ":")) {
		return place{}, fmt.Errorf("store: a %s:// address without a bucket, expected %s://BUCKET/PREFIX", u.Scheme, u.Scheme)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" && checkName(prefix) != nil {
		return place{}, fmt.Errorf("store: the path of a %s:// address has other than letters, digits, '.', '-' and '_' "+
			"between slashes", u.Scheme)
	}
	u.Path, u.RawPath = "", ""
	return place{bucket: u, prefix: prefix}, nil
}

// folderOf returns the place of a folder, if that isn't meant to be a URL.
func folderOf(path string) (place, error) {
	before, after, colon := strings.Cut(path, ":")
	_, scheme := parameters[strings.ToLower(before)]
	switch {
	case colon && strings.Contains(after, "@"):
		return place{}, errLooksSecret // a password may hold slashes
	case colon && (scheme || strings.EqualFold(before, "file")), strings.Contains(path, "?"):
		return place{}, errors.New("store: an address that looks like a URL without ://, expected a folder, or a URL such " +
			"as s3://bucket/prefix")
	}
	return place{folder: path}, nil
}

// String returns an address without parameters, to be named in messages.
func (p place) String() string {
	if p.bucket == nil {
		return filepath.Clean(p.folder)
	}
	return strings.TrimSuffix(p.bucket.Scheme+"://"+p.bucket.Host+"/"+p.prefix, "/")
}

const (
	// secretName is a parameter's name that says that its value is secret: those of SAS tokens, presigned URLs and
	// connection strings among them.
	secretName = `[\w.%-]*(?:secret[\w.-]*|passw[\w.-]*|token|credentials?|signature|` +
		`access[-_]?key[\w.-]*|account[-_]?key|private[-_]?key[\w.-]*|api[-_]?key|` +
		`shared[-_]?key|authorization|bearer)|sig|sas|pwd|auth`
	// userInfo is what stands before a machine: with a password anywhere, or any after //.
	userInfo = `//[^/?#&\s"'@]*@|[^/?#&;=\s"'@:]+:[^/?#&;\s"'@]+@`
)

var (
	users   = regexp.MustCompile(userInfo)
	secrets = regexp.MustCompile(`(?i)(^|[/?#&;,\s"'])((?:` + secretName + `)=)[^&;,\s"']+`)
)

// mostEncodings is how often something may be percent-encoded and is still looked at.
const mostEncodings = 4

// holdsCredentials reports whether a text looks as if credentials are in it.
func holdsCredentials(text string) bool {
	for range mostEncodings {
		if users.MatchString(text) || secrets.MatchString(text) {
			return true
		}
		plain, err := url.PathUnescape(text)
		if err != nil || plain == text {
			break
		}
		text = plain
	}
	return false
}

// Redact returns a text, such as an error of a service, without what looks like credentials of URLs in it.
func Redact(text string) string {
	text = users.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "//") {
			return "//…@"
		}
		return "…@"
	})
	return secrets.ReplaceAllString(text, "$1$2…")
}

// redacted is an error whose text is redacted.
type redacted struct{ err error }

func (r redacted) Error() string { return Redact(r.err.Error()) }
func (r redacted) Unwrap() error { return r.err }
