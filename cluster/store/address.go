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

// location is a parsed address, without credentials.
type location struct {
	folder string   // path of a folder; empty for a bucket
	bucket *url.URL // URL for gocloud.dev, without a path
	prefix string   // prefix of all keys in the bucket
}

// allowedParameters lists the allowed URL parameters per scheme: gocloud.dev's parameters except
// credentials.
var allowedParameters = map[string][]string{
	"s3": {
		"region", "endpoint", "use_path_style", "s3ForcePathStyle", "disable_https", "hostname_immutable", "profile", "role",
		"anonymous", "dualstack", "fips", "accelerate", "ssetype", "kmskeyid", "rate_limiter_capacity",
		"request_checksum_calculation", "response_checksum_validation", "awssdk",
	},
	"gs":     {"anonymous", "universe_domain", "grpc", "zonal"},
	"azblob": {"storage_account", "domain", "protocol", "cdn", "localemu"},
	"mem":    nil,
}

const credentialsHint = "pass credentials in environment variables"

var errCredentials = errors.New("store: the address seems to contain a user name, password or other credentials; " +
	credentialsHint)

// parseAddress parses an address. It rejects addresses that may contain credentials. Errors omit
// all parts of the address that could be secret.
func parseAddress(address string) (location, error) {
	if address == "" {
		return location{}, errors.New("store: the address is empty; use a folder or a URL such as s3://bucket/prefix")
	}
	if holdsCredentials(address) {
		return location{}, errCredentials
	}
	if !strings.Contains(address, "://") {
		return folderLocation(address)
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Fragment != "" {
		return location{}, errors.New("store: the address is not a valid URL, or it has a user, password or fragment; " +
			credentialsHint)
	}
	if u.Scheme == "file" {
		if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Path == "" {
			return location{}, errors.New("store: a file:// address must have the form file:///FOLDER, without host or " +
				"parameters")
		}
		return folderLocation(u.Path)
	}
	allowed, known := allowedParameters[u.Scheme]
	if !known {
		return location{}, fmt.Errorf("store: unknown scheme %s://; valid schemes are file, s3, gs and azblob", u.Scheme)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return location{}, fmt.Errorf("store: malformed parameters of the %s:// address; write %% and ; as %%25 and %%3B",
			u.Scheme)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case len(allowed) == 0:
			return location{}, fmt.Errorf("store: a %s:// address cannot have parameters", u.Scheme)
		case !slices.Contains(allowed, name):
			return location{}, fmt.Errorf("store: the %s:// address has an unknown parameter; valid parameters are %s", u.Scheme,
				strings.Join(allowed, ", "))
		}
	}
	if e, err := url.Parse(query.Get("endpoint")); err != nil || e.User != nil || e.RawQuery != "" || e.Fragment != "" {
		return location{}, errors.New("store: endpoint must have the form http://HOST:PORT")
	}
	if u.Scheme != "mem" && (u.Host == "" || strings.Contains(u.Host, ":")) {
		return location{}, fmt.Errorf("store: the %s:// address has no bucket; use %s://BUCKET/PREFIX", u.Scheme, u.Scheme)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" && checkName(prefix) != nil {
		return location{}, fmt.Errorf("store: the path of a %s:// address may contain only letters, "+
			"digits, '.', '-', '_' and slashes", u.Scheme)
	}
	u.Path, u.RawPath = "", ""
	return location{bucket: u, prefix: prefix}, nil
}

// folderLocation returns the location of a folder. It fails if path looks like a URL.
func folderLocation(path string) (location, error) {
	before, after, colon := strings.Cut(path, ":")
	_, scheme := allowedParameters[strings.ToLower(before)]
	switch {
	case colon && strings.Contains(after, "@"):
		return location{}, errCredentials // text between : and @ may be a password, even if it contains slashes
	case colon && (scheme || strings.EqualFold(before, "file")), strings.Contains(path, "?"):
		return location{}, errors.New("store: the address looks like a URL without ://; use a folder or a URL such as " +
			"s3://bucket/prefix")
	}
	return location{folder: path}, nil
}

// String returns the address without parameters, for messages.
func (p location) String() string {
	if p.bucket == nil {
		return filepath.Clean(p.folder)
	}
	return strings.TrimSuffix(p.bucket.Scheme+"://"+p.bucket.Host+"/"+p.prefix, "/")
}

const (
	// secretName matches names of secret parameters in SAS tokens, presigned URLs and connection
	// strings.
	secretName = `[\w.%-]*(?:secret[\w.-]*|passw[\w.-]*|token|credentials?|signature|` +
		`access[-_]?key[\w.-]*|account[-_]?key|private[-_]?key[\w.-]*|api[-_]?key|` +
		`shared[-_]?key|authorization|bearer)|sig|sas|pwd|auth`
	// userInfo matches user and password before a host, or anything between // and @.
	userInfo = `//[^/?#&\s"'@]*@|[^/?#&;=\s"'@:]+:[^/?#&;\s"'@]+@`
)

var (
	userPattern   = regexp.MustCompile(userInfo)
	secretPattern = regexp.MustCompile(`(?i)(^|[/?#&;,\s"'])((?:` + secretName + `)=)[^&;,\s"']+`)
)

const maxEncodings = 4

func holdsCredentials(text string) bool {
	for range maxEncodings {
		if userPattern.MatchString(text) || secretPattern.MatchString(text) {
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

// Redact removes credentials from a text, such as a service's error message. It replaces parts of
// URLs that look like credentials with an ellipsis.
func Redact(text string) string {
	text = userPattern.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "//") {
			return "//…@"
		}
		return "…@"
	})
	return secretPattern.ReplaceAllString(text, "$1$2…")
}

type redactedError struct{ err error }

func (r redactedError) Error() string { return Redact(r.err.Error()) }
func (r redactedError) Unwrap() error { return r.err }
