package pushcrypt

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	moments  = []string{"createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt"}
	timeForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:)(\d\d)(?:\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$`)
)

// The Unix times of 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const firstSecond, lastSecond = -62_167_219_200, 253_402_300_799

// times are moments by name, in Unix seconds.
type times map[string]int64

func (t times) has(moment string) bool { _, found := t[moment]; return found }

func (t times) hasCome(moment string, now int64) bool { return t.has(moment) && t[moment] <= now }

// at is before all times if there is no such moment.
func (t times) at(moment string) int64 {
	if t.has(moment) {
		return t[moment]
	}
	return firstSecond - 1
}

// take reads the moments of an object. In a line of a log, null removes one, and the last two stay as they are.
func (t times) take(from *object, isLine bool) {
	for place, moment := range moments {
		switch {
		case !from.has(moment) || t.has(moment) && place > 3:
		case isLine && from.get(moment) == nil:
			delete(t, moment)
		default:
			t[moment] = from.time(moment)
		}
	}
}

// entry is one key with its times. In a log, the key is nil if it is shared.
type entry struct {
	key   *key
	times times
	// demandsPSK says that messages to the key are sealed with a psk, and isLost that no file has the key's material.
	demandsPSK, isLost bool
}

func (e *entry) seals(now int64) bool {
	return e.state(now) == "retiring" && e.times.hasCome("activatesAt", now) && !e.times.hasCome("retiresAt", now)
}

// state is that of a key that isn't the primary.
func (e *entry) state(now int64) string {
	switch {
	case e.times.has("destroyedAt"):
		return "destroyed"
	case e.times.hasCome("revokedAt", now):
		return "revoked"
	case e.times.hasCome("expiresAt", now):
		return "expired"
	case e.times.hasCome("activatesAt", now) || e.times.hasCome("retiresAt", now):
		return "retiring"
	}
	return "pending"
}

// compare orders by (activatesAt, createdAt, kid bytes). A key without a time is before the others.
func (e *entry) compare(other *entry) int {
	created := cmp.Compare(e.times.at("createdAt"), other.times.at("createdAt"))
	return cmp.Or(cmp.Compare(e.times.at("activatesAt"), other.times.at("activatesAt")), created, strings.Compare(e.key.kid, other.key.kid))
}

func (e *entry) recipient() *Recipient {
	to := newRecipient(e.key)
	require(!e.demandsPSK || e.key.psk != nil, "pskMissing", "key %s needs the psk of its registration record", e.key.kid)
	return to
}

// Keyset has keys of one kind with their times: a published JWK set, or the keys of a [KeysetWatcher] (PROTOCOL sections 3 and 9). It
// never changes.
type Keyset struct {
	kind                string
	sequence, updatedAt int64
	entries             []*entry
}

func newKeyset(kind string, sequence, updatedAt int64, entries []*entry) *Keyset {
	for place, one := range entries {
		require(one.key.kind == kind, "wrongKind", "the set has keys of several kinds")
		isSame := func(other *entry) bool { return other.key.kid == one.key.kid }
		require(!slices.ContainsFunc(entries[:place], isSame), "duplicateKey", "the set has two keys of the kid %s", one.key.kid)
	}
	return &Keyset{kind, sequence, updatedAt, entries}
}

// ReadKeyset reads one JWK, whose key always seals, or a JWK set. Errors: malformed, unsupportedKey, invalidKey, kidMismatch,
// duplicateKey, wrongKind, tooLarge for more than 4 MiB; of a device set also pskMissing, notAuthentic, otherRegistration.
func ReadKeyset(text []byte) (keys *Keyset, err error) {
	defer catch(&err, "malformed", "the key record or set")
	require(len(text) <= maxKeyset, "tooLarge", "it has more than 4 MiB")
	root := parse(text)
	records := []any{root}
	if root.has("keys") {
		records = root.list("keys", 1, maxInteger)
	}
	var entries []*entry
	for _, record := range records {
		entries = append(entries, &entry{key: readKey(record, true), times: times{"activatesAt": 0}})
	}
	kind, sequence, updatedAt := entries[0].key.kind, int64(0), int64(firstSecond)
	if !root.has("keys") || !root.has("pushcrypt") {
		require(len(entries) == 1, "", "it has several keys and no times")
		return newKeyset(kind, sequence, updatedAt, entries), nil
	}
	member := root.object("pushcrypt")
	for _, one := range entries {
		given := member.object("keys").object(one.key.kid)
		one.times, one.demandsPSK = times{}, given.has("psk")
		isRight := !one.demandsPSK || given.get("psk") == true && one.key.isPair()
		require(isRight, "", "psk of key %s isn't true, or the key can't have one", one.key.kid)
		one.times.take(given, false)
	}
	if member.has("updatedAt") {
		updatedAt = member.time("updatedAt")
	}
	return newKeyset(kind, member.integer("seq", 0, maxInteger), updatedAt, entries), nil
}

// readTime returns the Unix seconds of a date-time of RFC 3339 of the years 0000 to 9999 in UTC. A leap second counts as the second
// after it.
func readTime(value any, name string) (seconds int64) {
	text, _ := value.(string)
	match := timeForm.FindStringSubmatch(strings.ToUpper(text))
	require(match != nil, "", "%s isn't a date-time of RFC 3339 with an offset", name)
	found, err := time.Parse(time.RFC3339, match[1]+min(match[2], "59")+match[3])
	require(err == nil && match[2] <= "60", "", "%s isn't a date with a time of day", name)
	if seconds = found.Unix(); match[2] == "60" {
		seconds++
	}
	require(firstSecond <= seconds && seconds <= lastSecond, "", "%s isn't of the years 0000 to 9999", name)
	return seconds
}

// Sequence grows with every change of a published set. Store it for RequireSequence.
func (s *Keyset) Sequence() int64 { return s.sequence }

// RequireSequence refuses a set that is older than one that was seen. Errors: rolledBack.
func (s *Keyset) RequireSequence(seen int64) (err error) {
	defer catch(&err, "rolledBack", "the set")
	require(s.sequence >= seen, "", "its seq is %d, and %d was seen before: an old set is served", s.sequence, seen)
	return nil
}

// Kind returns recipient, shared, sender or publisher.
func (s *Keyset) Kind() string { return s.kind }

// only returns the key of a set of one, which seals now and has no end.
func (s *Keyset) only() *entry {
	times := s.entries[0].times
	hasEnd := times.has("retiresAt") || times.has("expiresAt") || times.has("revokedAt")
	require(len(s.entries) == 1 && !hasEnd, "", "this is a set of keys with times: read it with ReadKeyset, and choose a key by time")
	return s.required(time.Now())
}

// latest is the time of evaluation: the clock's, or that of the last write if it is later.
func (s *Keyset) latest(now time.Time) int64 { return max(now.Unix(), s.updatedAt) }

// newest returns the newest of the wanted keys, or nil.
func (s *Keyset) newest(isWanted func(*entry) bool) (found *entry) {
	for _, one := range s.entries {
		if isWanted(one) && (found == nil || one.compare(found) > 0) {
			found = one
		}
	}
	return found
}

// primary returns the newest key that seals, or nil.
func (s *Keyset) primary(now time.Time) *entry {
	return s.newest(func(one *entry) bool { return one.seals(s.latest(now)) })
}

func (s *Keyset) required(now time.Time) *entry {
	found := s.primary(now)
	require(found != nil, "noKeySeals", "no key of the set is active at this time: fetch or rotate it")
	return found
}

// States returns pending, primary, retiring, expired, revoked or destroyed by key id.
func (s *Keyset) States(now time.Time) map[string]string {
	states := map[string]string{}
	for _, one := range s.entries {
		states[one.key.kid] = one.state(s.latest(now))
	}
	if primary := s.primary(now); primary != nil {
		states[primary.key.kid] = "primary"
	}
	return states
}

// SenderKeyAt returns the key that signs. Errors: noKeySeals, wrongKind.
func (s *Keyset) SenderKeyAt(now time.Time) (signer *SenderKey, err error) {
	defer catch(&err, "malformed", "the set")
	require(s.kind == "sender", "wrongKind", "the set has keys of the kind %s, and a sender's sign", s.kind)
	return newSenderKey(s.required(now).key), nil
}

// RecipientAt returns the key to seal to. It refuses a set whose newest key has a lower suite than an older one; allowsLowerSuite
// says that an operator has allowed it. Errors: noKeySeals, suiteTooLow, wrongKind, pskMissing.
func (s *Keyset) RecipientAt(now time.Time, allowsLowerSuite bool) (to *Recipient, err error) {
	defer catch(&err, "malformed", "the set")
	activates := func(one *entry) bool { return one.times.has("activatesAt") }
	last := s.newest(activates)
	for _, one := range s.entries {
		isLower := activates(one) && rank(last.key.suite) < rank(one.key.suite)
		require(!isLower || allowsLowerSuite, "suiteTooLow", "the newest key of the set has a lower suite than an older one")
	}
	return s.required(now).recipient(), nil
}

func (o *object) list(name string, fewest, most int) []any {
	found := as[[]any](o.get(name), name)
	require(fewest <= len(found) && len(found) <= most, "", "%s hasn't %d to %d elements", name, fewest, most)
	return found
}
