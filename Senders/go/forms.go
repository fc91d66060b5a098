package pushcrypt

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A form is what a value of a keyset's file must be (docs/keyset-log.md). It refuses a value, or returns false.
type form func(value any) bool

// shape is the form of an object, as a list of members: "name" or "name:form", with "?" behind the name if it is optional.
func shape(members string) form {
	fields, required := map[string]string{}, []string{}
	for _, one := range strings.Fields(members) {
		name, kind, _ := strings.Cut(one, ":")
		optional := strings.TrimSuffix(name, "?")
		if optional == name {
			required = append(required, name)
		}
		if fields[optional] = kind; kind == "" {
			fields[optional] = optional
		}
	}
	return func(value any) bool {
		found := asObject(value, "a value")
		for _, name := range required {
			require(found.has(name), "", "%s is missing", name)
		}
		for name, one := range found.members {
			require(fields[name] != "", "", "there is an unknown member")
			require(formNamed(fields[name])(one.value), "", "%s has another form or range", name)
		}
		return true
	}
}

// formNamed looks a form up when it is needed, because shapes refer to each other.
func formNamed(name string) form { return forms[name] }

var forms map[string]form

func init() {
	forms = map[string]form{
		"any":  func(any) bool { return true },
		"true": func(value any) bool { return value == true },
		"list": func(value any) bool { _, ok := value.([]any); return ok },
		"jwk":  func(value any) bool { _, ok := value.(*object); return ok },
		"n":    integerIn(1, 1<<52), "epoch": integerIn(0, maxInteger), "keep": integerIn(1, 100),
		"kid": base64Of(8), "id": base64Of(16), "hash": base64Of(32), "wrapped": base64Of(60),
		"time":     func(value any) bool { return readTime(value, "a time") >= firstSecond },
		"text":     isText,
		"name":     matching(`^[A-Za-z0-9._-]{1,64}$`),
		"topic":    func(value any) bool { text, ok := value.(string); return ok && topicForm.MatchString(text) },
		"duration": func(value any) bool { return durationOf(value) >= 0 },
		"percent":  isPercent,
		"keysetID": func(value any) bool { return base64Of(16)(value) && !strings.HasPrefix(value.(string), "-") },
		"kind":     func(value any) bool { return isOneOf(value, "recipient", "sender", "shared", "publisher") },
		"what": func(value any) bool {
			return isOneOf(value, "created", "rotated", "imported", "revoked", "destroyed", "policy", "secrets", "published", "restored",
				"clockCorrected")
		},
		"change": shape("jwk? psk?:true createdAt?:time0 activatesAt?:time0 retiresAt?:time0 expiresAt?:time0 revokedAt?:time0 " +
			"destroyedAt?:time0 lost?:true0"),
		"keys": mapOf("kid", "change", 0), "revoked": mapOf("kid", "time", 1), "epochs": mapOf("epochName", "id0", 0),
		"secrets": listOf("name", 0, 8, true), "topics": listOf("topic", 1, 16, true), "over": listOf("point", 1, maxKeyset, false),
		"point":       shape("n hash"),
		"publisher":   shape("id n hash"),
		"publication": shape("topics validFor:duration"),
		"policy": func(value any) bool {
			shape("rotateEvery:duration publishLead:duration overlap:duration keep requireCoverage?:percent")(value)
			policy := value.(*object)
			return durationOf(policy.get("rotateEvery")) > durationOf(policy.get("publishLead"))
		},
		"epochName": func(name any) bool { return isInteger(number(name.(string)), 0, maxInteger) },
		"scrypt": func(value any) bool {
			shape("n:any r:any p:any salt:id check:id")(value)
			n, r, p := value.(*object).integer("n", 2, 1<<20), value.(*object).integer("r", 1, 32), value.(*object).integer("p", 1, 16)
			return n&(n-1) == 0 && 128*n*r <= 1<<30 && p > 0
		},
		"lock": func(value any) bool {
			if asObject(value, "a secret").has("command") {
				return shape("name command:true key:any")(value) && len(value.(*object).bytes("key", 0)) <= 4_096
			}
			return shape("name passphrase:scrypt key:wrapped")(value)
		},
		"locks": listOf("lock", 1, 8, false),
	}
	for _, name := range []string{"time", "true", "id"} {
		forms[name+"0"] = func(value any) bool { return value == nil || formNamed(name)(value) }
	}
}

var lineForm = shape("n at:time who:text what prev:hash why?:text r?:id id?:keysetID kind? keys? policy? publication? epochs? writer?:text " +
	"secrets? over? revoked? issuedAt?:time validUntil?:time epoch? publisher?")

func integerIn(lowest, highest int64) form {
	return func(value any) bool { return isInteger(value, lowest, highest) }
}

func base64Of(size int) form {
	return func(value any) bool { return len(unbase64(value, size, "a value")) == size }
}

func matching(pattern string) form {
	compiled := regexp.MustCompile(pattern)
	return func(value any) bool { text, ok := value.(string); return ok && compiled.MatchString(text) }
}

func mapOf(name, value string, fewest int) form {
	return func(found any) bool {
		members := asObject(found, "a value").members
		for key, one := range members {
			require(formNamed(name)(key) && formNamed(value)(one.value), "", "a member or its name has another form")
		}
		return len(members) >= fewest
	}
}

func listOf(item string, fewest, most int, isDistinct bool) form {
	return func(value any) bool {
		items, ok := value.([]any)
		for place, one := range items {
			require(formNamed(item)(one), "", "an element has another form")
			require(!isDistinct || !slices.Contains(items[:place], one), "", "an element is there twice")
		}
		return ok && fewest <= len(items) && len(items) <= most
	}
}

func isText(value any) bool {
	text, _ := value.(string)
	return 1 <= len(text) && len(text) <= 256 && !strings.ContainsFunc(text, unicode.IsControl)
}

var percentForm = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3})?$`)

func isPercent(value any) bool {
	text, _ := value.(number)
	return percentForm.MatchString(string(text)) && isNumber(value, 0, 100)
}

var durationForm = regexp.MustCompile(`^P(?:([0-9]{1,10})W)?(?:([0-9]{1,10})D)?(T(?:([0-9]{1,10})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,10})S)?)?$`)

// durationOf returns the seconds of a duration of ISO 8601 with weeks, days, hours, minutes and seconds, of at most 100 years, or -1.
func durationOf(value any) int64 {
	text, _ := value.(string)
	match := durationForm.FindStringSubmatch(text)
	if match == nil || text == "P" || match[3] == "T" {
		return -1
	}
	seconds := int64(0)
	for place, unit := range map[int]int64{1: 604_800, 2: 86_400, 4: 3_600, 5: 60, 6: 1} {
		count, _ := strconv.ParseInt(match[place], 10, 64)
		seconds += count * unit
	}
	if seconds > 36_525*86_400 {
		return -1
	}
	return seconds
}
