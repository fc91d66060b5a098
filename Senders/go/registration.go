package pushcrypt

import (
	"crypto/hmac"
	"regexp"
	"slices"
	"time"
)

// In bytes, without the device set, and also of an answer and a receipt; in seconds.
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

// ReadRegistration reads the body of an upload, or what was stored of it, with all day keys. Demand both of apps that use the library's
// DeviceIdentity as it is. Errors: tooLarge, malformed, unsupportedKey, invalidKey, kidMismatch, wrongKind for a private key or one that
// signs, pskMissing, notAsymmetric; notAuthentic and otherRegistration for the device set of another record.
func ReadRegistration(record []byte, demands ...Demand) (registration *Registration, err error) {
	defer catch(&err, "malformed", "the record")
	// Each character of a device set may be escaped.
	require(len(record) <= maxRecord+6*maxDeviceSet, "tooLarge", "the record is longer than a record can be")
	record = slices.Clone(record)
	to := must(readUpload(parse(record)))
	require(to.key().provesSender() || !slices.Contains(demands, RequirePSK), "pskMissing", "key %s has no psk", to.KeyID())
	require(to.key().isPair() || !slices.Contains(demands, RequireAsymmetric), "notAsymmetric", "key %s is shared", to.KeyID())
	return &Registration{to, hide(record)}, nil
}

// readUpload reads all day keys, too.
func readUpload(record *object) (to *Recipient, err error) {
	defer func() { // Both are faults of the device set.
		if refused, _ := err.(*Error); refused != nil && (refused.Code == "pskMissing" || refused.Code == "duplicateKey") {
			refused.Code = "malformed"
		}
	}()
	defer catch(&err, "malformed", "the record")
	size := len(record.text) - len(record.raw("deviceSet"))
	require(size <= maxRecord, "tooLarge", "the record has more than 4,096 bytes beside its device set")
	to = newRecipient(readKey(record, true))
	if set := to.key().set; set != nil {
		for _, one := range set.days {
			to.key().dayKey(one)
		}
	}
	return to, nil
}

// Record returns the upload, byte for byte. Store it with the account and the device token.
func (r *Registration) Record() []byte { return slices.Clone(r.record()) }

// Row is a row of the backend's table. Environment is that of APNs, sandbox or production, or empty.
type Row struct {
	Registration                      *Registration
	Account, DeviceToken, Environment string
}

// Storing decides what to do with the upload of a signed-in account. Read the rows with its key or device token, decide, and write in
// one transaction. isProven says that the device has answered a challenge for the record, and allowsLowerSuite that it is known to
// have lost the suite of its key. isWritten says that the upload differs from the row of its key, or is new, and removed has the ids of
// the keys whose rows are removed. Errors: conflict, otherAccount, suiteTooLow, and rolledBack
// for an older device set.
func (upload Row) Storing(rows []Row, isProven, allowsLowerSuite bool) (isWritten bool, removed []string, err error) {
	defer catch(&err, "malformed", "the upload")
	kid, own := upload.Registration.KeyID(), upload.Registration.key()
	isWritten = true
	for _, row := range rows {
		stored, moved := row.Registration.key(), row
		if stored.kid == kid {
			// An attacker can make two keys with one kid of 64 bits.
			require(stored.equal(own), "conflict", "another key with the id %s is stored; it is never replaced", kid)
			require(isProven || row.Account == upload.Account, "otherAccount", "key %s belongs to another account", kid)
			isNewer := own.set == nil || stored.set == nil || own.set.sequence > stored.set.sequence
			require(isNewer || own.set.sequence == stored.set.sequence, "rolledBack", "a newer device set of key %s is stored", kid)
			require(isNewer || own.set.text == stored.set.text, "conflict", "another device set of key %s with the same seq is stored", kid)
			moved.Registration = upload.Registration
			isWritten = moved != upload || !hmac.Equal(row.Registration.record(), upload.Registration.record())
		} else if row.DeviceToken == upload.DeviceToken {
			// The row of another account doesn't count: its user could keep the device's next user from registering.
			isLower := row.Account == upload.Account && rank(own.suite) < rank(stored.suite)
			require(!isLower || allowsLowerSuite, "suiteTooLow", "%s would replace a key of a higher suite", kid)
			removed = append(removed, stored.kid)
		}
	}
	return isWritten, removed, nil
}

// Challenge returns the JSON by which the device of an uploaded record proves that it has the private key (PROTOCOL section 13), and the
// JSON that [Confirm] compares its answer with, which you store under the id until the device answers. It is as secret as the record. The
// host is the one that the app registers with, in lower case and without port. Errors: invalidOption, and those of the signer.
func (s *Sealer) Challenge(upload *Registration, host string) (challenge, pending []byte, id string, err error) {
	now := s.Now()
	bound, err := s.bind(upload.Recipient, now, true)
	if err != nil {
		return nil, nil, "", err
	}
	defer catch(&err, "invalidOption", "the challenge")
	require(hostForm.MatchString(host), "", "a host has 1 to 253 characters of a-z 0-9 . - and no port")
	nonce, id, kid, record := random(32), base64Of(random(16)), upload.KeyID(), upload.record()
	members := map[string]any{"v": 1, "registration": id, "kid": kid, "sealed": base64Of(bound.seal(nonce))}
	if bound.signer != nil {
		members["skid"] = bound.signer.kid
	}
	code := possessionCode(nonce, host, id, record)
	stored := map[string]any{"version": 1, "kid": kid, "hasPSK": upload.key().psk != nil, "record": string(record)}
	return write(members), write(map[string]any{
		"version": 1, "id": id, "registration": stored, "codeDigest": base64Of(digest(code)), "challengedAt": now.Unix(),
	}), id, nil
}

func possessionCode(nonce []byte, host, id string, record []byte) []byte {
	return mac(nonce, label(" possession"), lp16(host), lp16(id), digest(record))
}

// readAnswer checks the id of an answer, by which the pending value is found.
func readAnswer(answer []byte) *object {
	require(len(answer) <= maxRecord, "", "it has more than 4,096 bytes")
	root := parse(answer)
	require(nameForm.MatchString(root.string("registration")), "", "its id isn't 1 to 64 characters of A-Z a-z 0-9 _ -")
	return root
}

// AnsweredID returns the id of the challenge that an answer is for. Errors: malformed.
func AnsweredID(answer []byte) (id string, err error) {
	defer catch(&err, "malformed", "the answer")
	return readAnswer(answer).string("registration"), nil
}

// Confirm returns the registration of a pending value: the device has the private key and the psk of its record. Take the value out of the
// store before you call it, so that a challenge has one answer. Errors: malformed, pskMissing for a record that has lost its psk,
// otherChallenge, challengeExpired, possessionNotProven.
func Confirm(pending, answer []byte, now time.Time) (registration *Registration, err error) {
	defer catch(&err, "malformed", "the answer or the pending registration")
	root, given := parse(pending), readAnswer(answer)
	stored := root.object("registration")
	root.integer("version", 1, 1)
	stored.integer("version", 1, 1)
	registration = must(ReadRegistration([]byte(stored.string("record"))))
	hasPSK := registration.key().psk != nil
	require(hasPSK || stored.get("hasPSK") != true, "pskMissing", "the stored record has lost its psk")
	require(stored.get("kid") == registration.KeyID() && stored.get("hasPSK") == hasPSK, "", "the stored record was replaced")
	code, expected := given.bytes("answer", hashSize), root.bytes("codeDigest", hashSize)
	require(given.get("registration") == root.string("id"), "otherChallenge", "the answer is for another challenge")
	age := now.Unix() - root.integer("challengedAt", 0, maxInteger)
	require(-challengeLifetime <= age && age <= challengeLifetime, "challengeExpired", "the answer isn't within 10 minutes of the challenge")
	isRight := hmac.Equal(digest(code), expected)
	require(isRight, "possessionNotProven", "the answer was made with another key, or for another record or host")
	return registration, nil
}
