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
		name, kind, hasForm := strings.Cut(one, ":")
		name, isOptional := strings.CutSuffix(name, "?")
		if !isOptional {
			required = append(required, name)
		}
		if fields[name] = kind; !hasForm {
			fields[name] = name
		}
	}
	return func(value any) bool {
		found := asObject(value, "a value")
		for _, name := range required {
			require(found.has(name), "", "%s is missing", name)
		}
		for name, one := range found.members {
			require(fields[name] != "" && hasForm(fields[name], one.value), "", "there is an unknown member, or one of another form or range")
		}
		return true
	}
}

// hasForm looks the form up when it is needed, because forms refer to each other.
func hasForm(name string, value any) bool { return forms[name](value) }

var forms map[string]form

func init() {
	forms = map[string]form{
		"any": func(any) bool { return true }, "true": func(value any) bool { return value == true },
		"list":   func(value any) bool { _, ok := value.([]any); return ok },
		"object": func(value any) bool { _, ok := value.(*object); return ok },
		"n":      integerIn(1, 1<<52), "epoch": integerIn(0, maxInteger), "keep": integerIn(1, 100),
		"kid": bytesOf(8), "id": bytesOf(16), "hash": bytesOf(32), "wrapped": bytesOf(60),
		"name": matching(`^[A-Za-z0-9._-]{1,64}$`), "topic": matching(topicForm.String()),
		"kind": matching(`^(recipient|sender|shared|publisher)$`),
		"what": matching(`^(created|rotated|imported|revoked|destroyed|policy|secrets|published|restored|clockCorrected)$`),
		"time": func(value any) bool { return readTime(value, "a time") >= firstSecond },
		"text": func(value any) bool {
			text, _ := value.(string)
			return 1 <= len(text) && len(text) <= 256 && !strings.ContainsFunc(text, unicode.IsControl)
		},
		"duration": func(value any) bool { return durationOf(value) >= 0 },
		"percent": func(value any) bool {
			text, _ := value.(number)
			return percentForm.MatchString(string(text)) && isNumber(value, 0, 100)
		},
		"change": shape("jwk?:object psk?:true lost?:true0 createdAt?:time0 activatesAt?:time0 retiresAt?:time0 expiresAt?:time0 " +
			"revokedAt?:time0 destroyedAt?:time0"),
		"keys": mapOf("kid", "change", 0), "revoked": mapOf("kid", "time", 1), "epochs": mapOf("epochName", "id0", 0),
		"epochName": func(name any) bool { return isInteger(number(name.(string)), 0, maxInteger) },
		"secrets":   listOf("name", 0, 8, true), "topics": listOf("topic", 1, 16, true), "over": listOf("point", 1, maxKeyset, false),
		"locks": listOf("lock", 1, 8, false), "point": shape("n hash"), "publisher": shape("id n hash"),
		"publication": shape("topics validFor:duration"),
		"policy": func(value any) bool {
			shape("rotateEvery:duration publishLead:duration overlap:duration keep requireCoverage?:percent")(value)
			policy := value.(*object)
			return durationOf(policy.get("rotateEvery")) > durationOf(policy.get("publishLead"))
		},
		"scrypt": func(value any) bool {
			shape("n:any r:any p:any salt:id check:id")(value)
			lock := value.(*object)
			n, r := lock.integer("n", 2, 1<<20), lock.integer("r", 1, 32)
			return n&(n-1) == 0 && 128*n*r <= 1<<30 && isInteger(lock.get("p"), 1, 16)
		},
		"lock": func(value any) bool {
			if asObject(value, "a secret").has("command") {
				return shape("name command:true key:any")(value) && len(value.(*object).bytes("key", 0)) <= 4_096
			}
			return shape("name passphrase:scrypt key:wrapped")(value)
		},
	}
	for _, name := range []string{"time", "true", "id"} {
		forms[name+"0"] = func(value any) bool { return value == nil || hasForm(name, value) }
	}
}

func integerIn(lowest, highest int64) form {
	return func(value any) bool { return isInteger(value, lowest, highest) }
}

func bytesOf(size int) form {
	return func(value any) bool { return len(unbase64(value, size, "a value")) == size }
}

func matching(pattern string) form {
	compiled := regexp.MustCompile(pattern)
	return func(value any) bool { return isString(value) && compiled.MatchString(value.(string)) }
}

func mapOf(name, member string, fewest int) form {
	return func(value any) bool {
		members := asObject(value, "a value").members
		for key, one := range members {
			require(hasForm(name, key) && hasForm(member, one.value), "", "a member or its name has another form")
		}
		return len(members) >= fewest
	}
}

func listOf(item string, fewest, most int, isDistinct bool) form {
	return func(value any) bool {
		items, ok := value.([]any)
		for place, one := range items {
			isRight := hasForm(item, one) && !(isDistinct && slices.Contains(items[:place], one))
			require(isRight, "", "an element has another form, or is there twice")
		}
		return ok && fewest <= len(items) && len(items) <= most
	}
}

var (
	percentForm  = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3})?$`)
	durationForm = regexp.MustCompile(`^P(?:([0-9]{1,10})W)?(?:([0-9]{1,10})D)?(?:T(?:([0-9]{1,10})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,10})S)?)?$`)
)

// durationOf returns the seconds of a duration of ISO 8601 with weeks, days, hours, minutes and seconds, of at most 100 years, or -1.
func durationOf(value any) (seconds int64) {
	text, _ := value.(string)
	match := durationForm.FindStringSubmatch(text)
	if match == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return -1
	}
	for place, unit := range []int64{604_800, 86_400, 3_600, 60, 1} {
		count, _ := strconv.ParseInt(match[place+1], 10, 64)
		seconds += count * unit
	}
	if seconds > 36_525*86_400 {
		return -1
	}
	return seconds
}
