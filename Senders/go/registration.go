package pushcrypt

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"regexp"
	"slices"
	"time"
)

// In bytes, also of an answer and a receipt, and in seconds.
const maxRecord, challengeLifetime = 4_096, 600

var hostForm = regexp.MustCompile(`^[a-z0-9.-]{1,253}$`)

// Demand is what a registration record must have.
type Demand int

const (
	RequirePSK        Demand = iota // a secret of app and backend: without it, everyone who knows the public key can send
	RequireAsymmetric               // a key pair, so that the backend can't open what it seals
)

// Registration is what an app uploads so that a backend can seal to it (docs/registration.md). It is a secret like a password.
type Registration struct {
	// Recipient is the key to seal to.
	*Recipient
	record hidden[[]byte]
}

// ReadRegistration reads the body of an upload, or what was stored of it. Demand both of apps that use the library's DeviceIdentity
// as it is. Errors: tooLarge, malformed, unsupportedKey, invalidKey, kidMismatch, wrongKind for a private key or one that signs,
// pskMissing, notAsymmetric.
func ReadRegistration(record []byte, demands ...Demand) (registration *Registration, err error) {
	defer catch(&err, "malformed", "the record")
	require(len(record) <= maxRecord, "tooLarge", "the record has more than 4,096 bytes")
	record = slices.Clone(record)
	to := newRecipient(readKey(parse(record), true))
	require(to.key().provesSender() || !slices.Contains(demands, RequirePSK), "pskMissing", "key %s has no psk", to.KeyID())
	require(to.key().isPair() || !slices.Contains(demands, RequireAsymmetric), "notAsymmetric", "key %s is shared", to.KeyID())
	return &Registration{to, hide(record)}, nil
}

// Record returns the upload, byte for byte. Store it with the account and the device token.
func (r *Registration) Record() []byte { return slices.Clone(r.record()) }

// Row is a row of the backend's table. Environment is that of APNs, sandbox or production, or empty.
type Row struct {
	Registration                      *Registration
	Account, DeviceToken, Environment string
}

// Change is what an upload changes in the table.
type Change struct {
	IsWritten bool     // The upload differs from the row of its key, or is new.
	Removed   []string // The ids of the keys whose rows are removed.
}

// Storing decides what to do with the upload of a signed-in account. Read the rows with its key or device token, decide, and write in
// one transaction. isProven says that the device has answered a challenge for the record, and allowsLowerSuite that it is known to
// have lost the suite of its key. Errors: conflict, otherAccount, suiteTooLow.
func (upload Row) Storing(rows []Row, isProven, allowsLowerSuite bool) (change *Change, err error) {
	defer catch(&err, "malformed", "the upload")
	kid, own := upload.Registration.KeyID(), upload.Registration.key()
	change = &Change{IsWritten: true}
	for _, row := range rows {
		stored, moved := row.Registration.key(), row
		if stored.kid == kid {
			// An attacker can make two keys with one kid of 64 bits.
			require(stored.equal(own), "conflict", "another key with the id %s is stored; it is never replaced", kid)
			require(isProven || row.Account == upload.Account, "otherAccount", "key %s belongs to another account", kid)
			moved.Registration = upload.Registration
			change.IsWritten = moved != upload || !bytes.Equal(row.Registration.record(), upload.Registration.record())
		} else if row.DeviceToken == upload.DeviceToken {
			// The row of another account doesn't count: its user could keep the device's next user from registering.
			isLower := row.Account == upload.Account && rank(own.suite) < rank(stored.suite)
			require(!isLower || allowsLowerSuite, "suiteTooLow", "%s would replace a key of a higher suite", kid)
			change.Removed = append(change.Removed, stored.kid)
		}
	}
	return change, nil
}

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
	bound, err := s.bind(upload.Recipient, now, true)
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
	key := p.registration.key()
	stored := map[string]any{"version": 1, "kid": key.kid, "hasPSK": key.psk != nil, "record": string(p.registration.record())}
	return json.Marshal(map[string]any{
		"version": 1, "id": p.ID, "registration": stored, "codeDigest": base64Of(p.codeDigest), "challengedAt": p.challengedAt,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote. Errors: malformed, and pskMissing for a record that has lost its psk.
func (p *PendingRegistration) UnmarshalJSON(text []byte) (err error) {
	defer catch(&err, "malformed", "the pending registration")
	root := parse(text)
	stored := root.object("registration")
	root.integer("version", 1, 1)
	stored.integer("version", 1, 1)
	registration := must(ReadRegistration([]byte(stored.string("record"))))
	hasPSK := registration.key().psk != nil
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
	return challengeID(parse(answer), "registration"), nil
}

// Confirm returns the registration: the device has the private key and the psk of its record. Errors: malformed, otherChallenge,
// challengeExpired, possessionNotProven.
func (p *PendingRegistration) Confirm(answer []byte, now time.Time) (registration *Registration, err error) {
	defer catch(&err, "malformed", "the answer")
	require(must(AnsweredID(answer)) == p.ID, "otherChallenge", "the answer is for another challenge")
	code := parse(answer).bytes("answer", hashSize)
	age := now.Unix() - p.challengedAt
	require(-challengeLifetime <= age && age <= challengeLifetime, "challengeExpired", "the answer isn't within 10 minutes of the challenge")
	isRight := hmac.Equal(digest(code), p.codeDigest)
	require(isRight, "possessionNotProven", "the answer was made with another key, or for another record or host")
	return p.registration, nil
}
