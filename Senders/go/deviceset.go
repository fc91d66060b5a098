package pushcrypt

import (
	"cmp"
	"crypto/hmac"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// In bytes, in seconds, and in keys.
const maxDeviceSet, oneDay, maxDayKeys = 32_768, 86_400, 16

// deviceSet has the public day keys of a registration record (PROTOCOL section 14). Its MAC and its form were checked, its keys weren't.
type deviceSet struct {
	// text is without the MAC.
	text string
	// flight is the longest lifetime of a push, in seconds.
	sequence, flight int64
	days             []day
	// last is the key that was used last, so that a day's key is read once.
	last atomic.Pointer[key]
}

// day has the key that is used from start until before end.
type day struct {
	start, end int64
	kid        string
	jwk        *object
}

// readDeviceSet reads the member of a record: BASE64URL(mac) ‖ "." ‖ set. Nothing of the set is used before its MAC was checked.
func readDeviceSet(member string, of *key) *deviceSet {
	require(of.psk != nil, "pskMissing", "key %s has a device set and no psk", of.kid)
	require(len(member) <= maxDeviceSet, "tooLarge", "the device set of key %s has more than 32,768 bytes", of.kid)
	code, text, hasDot := strings.Cut(member, ".")
	found := unbase64(code, hashSize, "the MAC of the device set")
	require(hasDot, "", "there is no dot behind the MAC of the device set")
	secret := expand(mac(nil, of.psk), join(label(" device set"), lp16(of.kid)), hashSize)
	isAuthentic := hmac.Equal(mac(secret, []byte(text)), found)
	require(isAuthentic, "notAuthentic", "the device set of key %s was changed, or belongs to another record", of.kid)
	root := parse([]byte(text))
	jwks, about := root.list("keys", 1, maxDayKeys), root.object("pushcrypt")
	made := &deviceSet{text: text, sequence: about.integer("seq", 0, maxInteger), flight: about.integer("flight", oneDay, 7*oneDay)}
	require(len(about.object("keys").members) == len(jwks), "", "the device set hasn't one entry for each key")
	isOwn := about.get("registration") == of.kid
	require(isOwn, "otherRegistration", "the device set of key %s belongs to another record", of.kid)
	for _, item := range jwks {
		jwk := as[*object](item, "a day key")
		kid := base64Of(jwk.bytes("kid", 8))
		isKnown := kid == of.kid || slices.ContainsFunc(made.days, func(other day) bool { return other.kid == kid })
		require(!isKnown, "duplicateKey", "the device set has key %s twice, or it is the record's", kid)
		given := about.object("keys").object(kid)
		one := day{given.time("activatesAt"), given.time("retiresAt"), kid, jwk}
		isWhole := one.start%oneDay == 0 && one.end%oneDay == 0 && oneDay <= one.end-one.start && one.end-one.start <= 7*oneDay
		isRight := isWhole && given.time("expiresAt") == one.end+made.flight+600 && given.get("psk") == true && len(given.members) == 4
		require(isRight, "", "day key %s isn't for 1 to 7 whole days, or doesn't expire a flight and 10 minutes later, or has no psk", kid)
		made.days = append(made.days, one)
	}
	slices.SortFunc(made.days, func(a, b day) int { return cmp.Compare(a.start, b.start) })
	for place, one := range made.days[1:] {
		require(made.days[place].end <= one.start, "", "the device set has two keys for one day")
	}
	return made
}

// dayKey reads a key of the device set. It has the psk and R of the record, so that no record forwards a signed message to another device.
func (k *key) dayKey(one day) *key {
	if last := k.set.last.Load(); last != nil && last.kid == one.kid {
		return last
	}
	require(!one.jwk.has("deviceSet"), "wrongKind", "day key %s has a device set", one.kid)
	found := readKey(one.jwk, true)
	isRight := found.keyType == k.keyType && found.secret == nil && found.psk == nil
	require(isRight, "wrongKind", "day key %s isn't a public key of suite %d without psk", one.kid, k.suite)
	found.psk, found.recipient = k.psk, k.recipient
	k.set.last.Store(found)
	return found
}

// keyAt returns the day key for a time, or the key of the record if it has none.
func (r *Recipient) keyAt(now int64, isRequired bool) (found *key, err error) {
	defer catch(&err, "malformed", "the day key")
	if found = r.key(); found.set == nil {
		return found, nil
	}
	for _, one := range found.set.days {
		if one.start <= now && now < one.end {
			return found.dayKey(one), nil
		}
	}
	require(!isRequired, "noDayKey", "the device set of key %s has no key for this day: its app must run, and upload others", found.kid)
	return found, nil
}

// LongestLifetime is that of pushes to this key: 30 days, or the flight of its device set (PROTOCOL section 14).
func (r *Recipient) LongestLifetime() time.Duration {
	if set := r.key().set; set != nil {
		return time.Duration(set.flight) * time.Second
	}
	return maxLifetime * time.Second
}
