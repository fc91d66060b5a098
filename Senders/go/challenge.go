package pushcrypt

import (
	"crypto/hmac"
	"encoding/json"
	"regexp"
	"time"
)

const challengeLifetime = 600 // seconds

var hostForm = regexp.MustCompile(`^[a-z0-9.-]{1,253}$`)

// PendingRegistration is what the backend stores under its ID until the device answers (PROTOCOL section 13). Store it as JSON; it is
// as secret as the record. Take it out of the store before Confirm, so that a challenge has one answer.
type PendingRegistration struct {
	ID           string
	registration *Registration
	// codeDigest is SHA-256 of the code that the device answers with.
	codeDigest   []byte
	challengedAt int64
}

// Challenge returns the JSON by which the device of an uploaded record proves that it has the private key, and what to compare its
// answer with. The host is the one that the app registers with, in lower case and without port. Errors: invalidOption.
func (s *Sealer) Challenge(upload *Registration, host string) (challenge []byte, pending *PendingRegistration, err error) {
	now := s.Now()
	bound, err := s.bind(upload.recipient, now, true)
	if err != nil {
		return nil, nil, err
	}
	defer catch(&err, "invalidOption", "the challenge")
	require(hostForm.MatchString(host), "", "a host has 1 to 253 characters of a-z 0-9 . - and no port")
	nonce, id := random(32), base64Of(random(16))
	members := map[string]any{"v": 1, "registration": id, "kid": upload.KeyID(), "sealed": base64Of(bound.seal(nonce))}
	if bound.signer != nil {
		members["skid"] = bound.signer.kid
	}
	code := possessionCode(nonce, host, id, upload.record())
	return write(members), &PendingRegistration{id, upload, digest(code), now.Unix()}, nil
}

func possessionCode(nonce []byte, host, id string, record []byte) []byte {
	return mac(nonce, label(" possession"), lp16(host), lp16(id), digest(record))
}

// MarshalJSON writes what a column of a database stores, as the other implementations do.
func (p *PendingRegistration) MarshalJSON() ([]byte, error) {
	key := p.registration.recipient.key()
	stored := map[string]any{"version": 1, "kid": key.kid, "hasPSK": key.psk != nil, "record": string(p.registration.record())}
	return json.Marshal(map[string]any{
		"version": 1, "id": p.ID, "registration": stored, "codeDigest": base64Of(p.codeDigest), "challengedAt": p.challengedAt,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote. Errors: malformed, and pskMissing for a record that has lost its psk.
func (p *PendingRegistration) UnmarshalJSON(text []byte) (err error) {
	defer catch(&err, "malformed", "the pending registration")
	root := parse(text, false)
	stored := root.object("registration")
	root.integer("version", 1, 1)
	stored.integer("version", 1, 1)
	registration := must(ReadRegistration([]byte(stored.string("record"))))
	hasPSK := registration.recipient.key().psk != nil
	require(hasPSK || stored.get("hasPSK") != true, "pskMissing", "the stored record has lost its psk")
	require(stored.get("kid") == registration.KeyID() && stored.get("hasPSK") == hasPSK, "", "the record was replaced")
	*p = PendingRegistration{challengeID(root, "id"), registration, root.bytes("codeDigest", hashSize), root.integer("challengedAt", 0, maxInteger)}
	return nil
}

func challengeID(root *object, name string) string {
	require(nameForm.MatchString(root.string(name)), "", "%s isn't 1 to 64 characters of A-Z a-z 0-9 _ -", name)
	return root.string(name)
}

// AnsweredID returns the ID of the pending registration that an answer is for. Errors: malformed.
func AnsweredID(answer []byte) (id string, err error) {
	defer catch(&err, "malformed", "the answer")
	require(len(answer) <= maxRecord, "", "it has more than 4,096 bytes")
	return challengeID(parse(answer, false), "registration"), nil
}

// Confirm returns the registration: the device has the private key and the psk of its record. Errors: malformed, otherChallenge,
// challengeExpired, possessionNotProven.
func (p *PendingRegistration) Confirm(answer []byte, now time.Time) (registration *Registration, err error) {
	defer catch(&err, "malformed", "the answer")
	require(must(AnsweredID(answer)) == p.ID, "otherChallenge", "the answer is for another challenge")
	code := parse(answer, false).bytes("answer", hashSize)
	age := now.Unix() - p.challengedAt
	require(-challengeLifetime <= age && age <= challengeLifetime, "challengeExpired", "the answer isn't within 10 minutes of the challenge")
	isRight := hmac.Equal(digest(code), p.codeDigest)
	require(isRight, "possessionNotProven", "the answer was made with another key, or for another record or host")
	return p.registration, nil
}
