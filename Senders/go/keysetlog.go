package pushcrypt

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const maxValidity = 90 * 86_400 // seconds

var lineForm = shape("n at:time who:text what prev:hash why?:text r?:id id?:id kind? keys? policy? publication? epochs? writer?:text " +
	"secrets? over? revoked? issuedAt?:time validUntil?:time epoch? publisher?")

// places has the members that only lines of these actions have.
var places = map[string][]string{
	"issuedAt": {"published", "restored"}, "over": {"restored"}, "revoked": {"restored"}, "epoch": {"published"},
	"validUntil": {"published"}, "publisher": {"published"}, "id": {"created"}, "kind": {"created"},
}

// Point is the number of a line of a keyset's log and its hash, base64url of 32 bytes (docs/keyset-log.md).
type Point struct {
	N    int64  `json:"n"`
	Hash string `json:"hash"`
}

// keysetLog is what the lines of a keyset's log say.
type keysetLog struct {
	id, kind     string
	at, issuedAt int64
	head         Point
	// points has those of the lines, and those that a restoration has abandoned.
	points  []Point
	keys    map[string]*entry
	revoked times
	secrets []any
	epochs  map[string]bool
}

func parseLog(rows [][]byte) *keysetLog {
	require(len(rows) > 0, "incomplete", "there is no line")
	first := Point{0, base64Of(make([]byte, hashSize))}
	log := &keysetLog{keys: map[string]*entry{}, revoked: times{}, epochs: map[string]bool{}, head: first, issuedAt: firstSecond}
	for place, row := range rows {
		inRow(place+1, func() { log.add(row) })
	}
	return log
}

// add checks the form of a line and its place behind the others, and takes what it says.
func (l *keysetLog) add(row []byte) {
	line := parseCompact(row)
	lineForm(line)
	require(line.has("why") == line.has("r"), "", "why and r aren't together")
	what, n, at, isFirst := line.string("what"), line.integer("n", 1, 1<<52), line.time("at"), l.head.N == 0
	require(n == l.head.N+1 || n > l.head.N && what == "restored", "wrongNumber", "n isn't the next number")
	require(line.get("prev") == l.head.Hash, "brokenChain", "prev isn't the hash of the line before")
	require(isFirst || at >= l.at || what == "clockCorrected", "timeWentBack", "at is before that of the line before")
	require((what == "created") == isFirst, "misplaced", "line 1, and no other, is created")
	for name, actions := range places {
		require(!line.has(name) || slices.Contains(actions, what), "misplaced", "a line %s has no %s", what, name)
	}
	if isFirst {
		l.id, l.kind = line.string("id"), line.string("kind")
		require(l.id[0] != '-', "", "id begins with -")
	}
	publishes := line.has("publication") || len(membersOf(line.get("epochs"))) > 0
	require(l.kind == "sender" || !publishes, "misplaced", "a keyset of kind %s publishes no sets", l.kind)
	require(l.kind != "publisher" || !line.has("policy"), "misplaced", "a keyset of publishers has no policy")
	for kid, change := range membersOf(line.get("keys")) {
		l.takeKey(kid, change.value.(*object))
	}
	for kid, moment := range membersOf(line.get("revoked")) {
		require(l.keys[kid] == nil, "misplaced", "the log has key %s of revoked", kid)
		if !l.revoked.has(kid) {
			l.revoked[kid] = readTime(moment.value, kid)
		}
	}
	if line.has("secrets") {
		l.secrets = line.list("secrets", 0, 8)
	}
	l.takePublication(line, what)
	l.head, l.at = Point{n, base64Of(digest(row))}, at
	l.points = append(l.points, l.head)
	over, _ := line.get("over").([]any)
	for _, one := range over {
		abandoned := one.(*object)
		l.points = append(l.points, Point{abandoned.integer("n", 1, 1<<52), abandoned.string("hash")})
	}
}

// isRevoked says whether a line revokes the key, also one of a log that a restoration has abandoned.
func (l *keysetLog) isRevoked(kid string) bool {
	return l.revoked.has(kid) || l.keys[kid] != nil && l.keys[kid].times.has("revokedAt")
}

func (l *keysetLog) takeKey(kid string, change *object) {
	known := l.keys[kid]
	require(known == nil || !change.has("jwk") && !change.has("psk"), "misplaced", "key %s is known: it gets no jwk and no psk", kid)
	if known == nil {
		known = &entry{times: times{}, demandsPSK: change.has("psk")}
		if l.keys[kid] = known; change.has("jwk") {
			known.key = readRecord(change.get("jwk"), false)
			require(known.key.secret == nil && known.key.psk == nil, "", "the jwk of key %s has a secret", kid)
		}
		require(!l.revoked.has(kid), "misplaced", "key %s was revoked before it was added", kid)
		require(!known.demandsPSK || l.kind == "recipient", "misplaced", "only a recipient's key has a psk")
		require((known.key == nil) == (l.kind == "shared"), "misplaced", "key %s is new and has no jwk, or is shared and has one", kid)
		require(known.key == nil || known.key.kind == l.kind, "wrongKind", "key %s isn't of the keyset's kind", kid)
		require(known.key == nil || known.key.kid == kid, "kidMismatch", "the jwk of key %s is another key", kid)
	}
	known.times.take(change, true)
	known.isLost = change.get("lost") == true || known.isLost && !change.has("lost")
}

func (l *keysetLog) takePublication(line *object, what string) {
	for epoch, keyset := range membersOf(line.get("epochs")) {
		l.epochs[epoch] = keyset.value != nil
	}
	isSigned := line.has("epoch")
	isComplete := isSigned == line.has("validUntil") && (isSigned || !line.has("publisher"))
	require(isComplete && (what != "published" || line.has("issuedAt")), "", "issuedAt is missing, or epoch and validUntil aren't together")
	if line.has("issuedAt") {
		require(line.time("issuedAt") >= l.issuedAt, "timeWentBack", "issuedAt is before an earlier one")
		l.issuedAt = line.time("issuedAt")
	}
	if isSigned {
		require(l.epochs[string(line.raw("epoch"))], "unknownEpoch", "epoch isn't one of the epochs")
		validity := line.time("validUntil") - l.issuedAt
		require(0 < validity && validity <= maxValidity, "", "validUntil isn't within 90 days after issuedAt")
	}
}

// A form is what a value of a keyset's file must be (docs/keyset-log.md). It refuses a value, or returns false.
type form func(value any) bool

// shape is the form of an object, as a list of members: "name" or "name:form", with "?" behind the name if it is optional.
func shape(members string) form {
	return func(value any) bool {
		found, known := as[*object](value, "a value"), 0
		for _, one := range strings.Fields(members) {
			name, kind, hasForm := strings.Cut(one, ":")
			name, isOptional := strings.CutSuffix(name, "?")
			if !hasForm {
				kind = name
			}
			if !found.has(name) {
				require(isOptional, "", "%s is missing", name)
				continue
			}
			known++
			require(forms[kind](found.get(name)), "", "%s has another form or range", name)
		}
		require(known == len(found.members), "", "there is an unknown member")
		return true
	}
}

// forms are looked up when they are needed, because they refer to each other.
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
			return n&(n-1) == 0 && n < 1<<min(16*r, 62) && 128*n*r <= 1<<30 && isInteger(lock.get("p"), 1, 16)
		},
		"lock": func(value any) bool {
			if as[*object](value, "a secret").has("command") {
				return shape("name command:true key:any")(value) && len(value.(*object).bytes("key", 0)) <= 4_096
			}
			return shape("name passphrase:scrypt key:wrapped")(value)
		},
	}
	for _, name := range []string{"time", "true", "id"} {
		forms[name+"0"] = func(value any) bool { return value == nil || forms[name](value) }
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
		members := as[*object](value, "a value").members
		for key, one := range members {
			require(forms[name](key) && forms[member](one.value), "", "a member or its name has another form")
		}
		return len(members) >= fewest
	}
}

func listOf(item string, fewest, most int, isDistinct bool) form {
	return func(value any) bool {
		items, ok := value.([]any)
		require(ok && fewest <= len(items) && len(items) <= most, "", "there is no list, or it has another length")
		for place, one := range items {
			isRight := forms[item](one) && !(isDistinct && slices.Contains(items[:place], one))
			require(isRight, "", "an element has another form, or is there twice")
		}
		return true
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

// parseCompact refuses white space outside of strings.
func parseCompact(text []byte) *object {
	var compact bytes.Buffer
	root := parse(text)
	require(json.Compact(&compact, text) == nil && compact.Len() == len(text), "", "it has white space outside of strings")
	return root
}

// membersOf returns none if it isn't an object.
func membersOf(value any) map[string]member {
	if found, isObject := value.(*object); isObject {
		return found.members
	}
	return nil
}
