package pushcrypt

import (
	"bytes"
	"slices"
)

const maxRecord = 4_096 // bytes, also of an answer and a receipt

// Demand is what a registration record must have.
type Demand int

const (
	RequirePSK        Demand = iota // a secret of app and backend: without it, everyone who knows the public key can send
	RequireAsymmetric               // a key pair, so that the backend can't open what it seals
)

// Registration is what an app uploads so that a backend can seal to it (docs/registration.md). It is a secret like a password.
type Registration struct {
	recipient *Recipient
	record    hidden[[]byte]
}

// ReadRegistration reads the body of an upload, or what was stored of it. Demand both of apps that use the library's DeviceIdentity
// as it is. Errors: tooLarge, malformed, unsupportedKey, invalidKey, kidMismatch, wrongKind for a private key or one that signs,
// pskMissing, notAsymmetric.
func ReadRegistration(record []byte, demands ...Demand) (registration *Registration, err error) {
	defer catch(&err, "malformed", "the record")
	require(len(record) <= maxRecord, "tooLarge", "the record has more than 4,096 bytes")
	record = slices.Clone(record)
	to := newRecipient(readKey(parse(record, false), true))
	require(to.key().provesSender() || !slices.Contains(demands, RequirePSK), "pskMissing", "key %s has no psk", to.KeyID())
	require(to.key().isPair() || !slices.Contains(demands, RequireAsymmetric), "notAsymmetric", "key %s is shared", to.KeyID())
	return &Registration{to, hide(record)}, nil
}

// Record returns the upload, byte for byte. Store it with the account and the device token.
func (r *Registration) Record() []byte { return slices.Clone(r.record()) }

// Recipient returns the key to seal to.
func (r *Registration) Recipient() *Recipient { return r.recipient }

// KeyID returns the id of the key.
func (r *Registration) KeyID() string { return r.recipient.KeyID() }

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
	kid, own := upload.Registration.KeyID(), upload.Registration.recipient.key()
	change = &Change{IsWritten: true}
	for _, row := range rows {
		stored, moved := row.Registration.recipient.key(), row
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
