package pushcrypt

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// midnight is the start of a day, and noon within it.
const midnight, noon = 1_799_971_200, 1_799_971_200 + oneDay/2

// testDay is a private day key of suite 1 with its days, counted from midnight.
type testDay struct {
	*key
	first, count int64
}

func newDay(t testing.TB, first, count int64) testDay {
	private := ok[*ecdh.PrivateKey](t)(ecdh.P256().GenerateKey(rand.Reader))
	k := &key{keyType: p256, public: private.PublicKey().Bytes(), secret: private.Bytes()}
	x, y := base64Of(k.public[1:33]), base64Of(k.public[33:])
	k.kid = base64Of(digest(fmt.Appendf(nil, p256.thumbprint, x, y))[:8])
	if !k.prepare() {
		t.Fatal("the key isn't valid")
	}
	return testDay{k, first, count}
}

func (d testDay) jwk() map[string]any {
	return map[string]any{"kty": "EC", "crv": "P-256", "alg": "HPKE-7", "kid": d.kid, "x": base64Of(d.public[1:33]), "y": base64Of(d.public[33:])}
}

// phone is the private key of "p256 psk", with its psk.
func phone(t testing.TB) *key { return privateKeys(t)["p256 psk"] }

// recordWith returns the record of a phone with a set of these days.
func recordWith(t testing.TB, sequence, flight int64, days ...testDay) []byte {
	record := map[string]any{}
	if err := json.Unmarshal(RecordOf(t, "p256 psk"), &record); err != nil {
		t.Fatal(err)
	}
	var jwks []any
	times := map[string]any{}
	at := func(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
	for _, one := range days {
		start, end := midnight+one.first*oneDay, midnight+(one.first+one.count)*oneDay
		jwks = append(jwks, one.jwk())
		times[one.kid] = map[string]any{"activatesAt": at(start), "retiresAt": at(end), "expiresAt": at(end + flight + 600), "psk": true}
	}
	of := phone(t)
	set := write(map[string]any{"keys": jwks, "pushcrypt": map[string]any{"seq": sequence, "registration": of.kid, "flight": flight, "keys": times}})
	secret := expand(mac(nil, of.psk), join(label(" device set"), lp16(of.kid)), 32)
	record["deviceSet"] = base64Of(mac(secret, set)) + "." + string(set)
	return write(record)
}

func sealAt(t testing.TB, to *Recipient, at int64, options Options) (*SealedPush, error) {
	sealer := testSealer(t, true)
	sealer.Now = func() time.Time { return time.Unix(at, 999_999_999) }
	return sealer.Seal(plainPayload, to, plainPlaceholder, options)
}

func keyOf(push *SealedPush) string { return parse(push.Body).object("pushcrypt").string("kid") }

func secondsOf(t testing.TB, value any) int64 {
	return ok[int64](t)(strconv.ParseInt(string(value.(number)), 10, 64))
}

func TestTheMACOfADeviceSetIsThatOfTheVectors(t *testing.T) {
	one := vectors(t, "device-sets-v1.json").object("mac")
	of := &key{kid: one.string("kid"), psk: one.bytes("psk", 32)}
	if got := readDeviceSet(one.string("mac")+"."+one.string("set"), of).text; got != one.string("set") {
		t.Errorf("want %s, got %s", one.string("set"), got)
	}
}

func TestRecordsWithDayKeysAreReadAndSealedToAsTheVectorsSay(t *testing.T) {
	file, private := vectors(t, "device-sets-v1.json"), map[string]*key{}
	for kid, one := range file.object("keys").members {
		private[kid] = readKey(one.value, true)
	}
	for _, one := range privateKeys(t) {
		private[one.kid] = one
	}
	signer := testSigner(t).key()
	each(t, file, "vectors", func(t *testing.T, one *object) {
		text := []byte(one.string("text"))
		_, err := ReadRegistration(text)
		want, _ := one.get("failureOfUpload").(string)
		wantCode(t, "upload", want, err)
		to, err := ReadRecipient(text)
		failure, _ := one.get("failure").(string)
		wantCode(t, "record", failure, err)
		if err != nil {
			return
		}
		flight := time.Duration(one.integer("flight", 1, maxInteger)) * time.Second
		if to.LongestLifetime() != flight {
			t.Errorf("want %v, got %v", flight, to.LongestLifetime())
		}
		for _, item := range one.list("at", 0, 100) {
			seconds, kid := secondsOf(t, item.([]any)[0]), item.([]any)[1]
			push := ok[*SealedPush](t)(sealAt(t, to, seconds, Options{}))
			used := to.KeyID()
			if kid != nil {
				used = kid.(string)
			}
			if keyOf(push) != used || push.UsesLastResortKey != (kid == nil) || push.ExpiresAt.Unix() != seconds+int64(flight/time.Second) {
				t.Errorf("at %d: got %s, %v", seconds, keyOf(push), push.UsesLastResortKey)
			}
			opened := *private[used]
			opened.psk, opened.recipient = to.key().psk, to.key().recipient
			openPush(t, push, &opened, signer)
			opened.recipient = digest(opened.public)
			_, err := binding{&opened, signer, testTopic, false}.open(parse(push.Body).object("pushcrypt").bytes("sealed", 0))
			if (err == nil) != (kid == nil) {
				t.Errorf("the signature names another key than that of the record: %v", err)
			}
		}
		for _, item := range one.list("failsAt", 0, 100) {
			seconds := secondsOf(t, item)
			_, err := sealAt(t, to, seconds, Options{})
			wantCode(t, "seal", want, err)
		}
	})
	each(t, file, "campaigns", func(t *testing.T, one *object) {
		to := ok[*Recipient](t)(ReadRecipient([]byte(one.string("text"))))
		for _, item := range one.list("at", 1, 100) {
			push := ok[*SealedPush](t)(sealAt(t, to, secondsOf(t, item.([]any)[0]), Options{Campaign: one.string("campaign")}))
			if id := ok[string](t)(to.MessageID(one.string("campaign"))); push.ID != one.string("id") || id != push.ID {
				t.Errorf("want %s, got %s and %s", one.string("id"), push.ID, id)
			}
		}
	})
	each(t, file, "changes", func(t *testing.T, one *object) {
		row := func(name string) Row {
			return Row{ok[*Registration](t)(ReadRegistration([]byte(one.string(name)))), "alice", "t", ""}
		}
		isWritten, _, err := row("upload").Storing([]Row{row("stored")}, false, false)
		want, _ := one.get("failure").(string)
		wantCode(t, "change", want, err)
		if err == nil && isWritten != (one.get("isWritten") == true) {
			t.Errorf("got %v", isWritten)
		}
	})
}

func TestAPushExpiresAfterTheFlightByDefaultAndNoLaterOnDaysWithAKeyAndWithout(t *testing.T) {
	for _, flight := range []int64{oneDay, oneDay + 1, 7 * oneDay} {
		to := ok[*Recipient](t)(ReadRecipient(recordWith(t, 1, flight, newDay(t, 0, 1))))
		longest := time.Duration(flight) * time.Second
		for _, at := range []int64{noon, noon + oneDay} {
			for lifetime, want := range map[time.Duration]int64{0: flight, time.Minute: 60, longest: flight, longest + time.Second - 1: flight} {
				push := ok[*SealedPush](t)(sealAt(t, to, at, Options{Lifetime: lifetime}))
				if push.ExpiresAt.Unix() != at+want {
					t.Errorf("%v: want %d, got %d", lifetime, at+want, push.ExpiresAt.Unix())
				}
			}
			_, err := sealAt(t, to, at, Options{Lifetime: longest + time.Second})
			wantCode(t, "a second later", "expiresTooLate", err)
			_, err = sealAt(t, to, at, Options{Lifetime: 31 * 24 * time.Hour})
			wantCode(t, "31 days", "invalidOption", err)
		}
	}
	bare := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	if bare.LongestLifetime() != 30*24*time.Hour {
		t.Errorf("got %v", bare.LongestLifetime())
	}
}

func TestAPolicyThatDemandsDayKeysRefusesADayWithoutOneAndSealsToRecordsWithoutASet(t *testing.T) {
	demand, today := Options{RequiresDayKey: true}, newDay(t, 0, 1)
	to := ok[*Recipient](t)(ReadRecipient(recordWith(t, 1, oneDay, today)))
	if push := ok[*SealedPush](t)(sealAt(t, to, noon, demand)); keyOf(push) != today.kid {
		t.Errorf("want %s, got %s", today.kid, keyOf(push))
	}
	_, err := sealAt(t, to, noon+oneDay, demand)
	wantCode(t, "tomorrow", "noDayKey", err)
	bare := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	if push := ok[*SealedPush](t)(sealAt(t, bare, noon, demand)); push.UsesLastResortKey || keyOf(push) != bare.KeyID() {
		t.Error("a record without a set has no last-resort key")
	}
}

func TestTheKeyOfADayIsReadAtItsFirstPushAndKept(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(recordWith(t, 1, oneDay, newDay(t, 0, 1), newDay(t, 1, 2))))
	used := func(at int64) *key { return ok[*key](t)(to.keyAt(at, true)) }
	if to.key().set.last.Load() != nil {
		t.Error("a key was read before the first push")
	}
	if first := used(noon); first != used(noon+1) || first == used(noon+oneDay) || used(noon+oneDay) != used(noon+2*oneDay) {
		t.Error("a key was read twice, or isn't that of its day")
	}
}

func TestGoroutinesThatSealOnBothSidesOfMidnightGetTheKeyOfTheirOwnDay(t *testing.T) {
	days := []testDay{newDay(t, 0, 1), newDay(t, 1, 1)}
	to := ok[*Recipient](t)(ReadRecipient(recordWith(t, 1, oneDay, days...)))
	sealer := testSealer(t, false)
	var group sync.WaitGroup
	for number := range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			mine := *sealer
			mine.Now = func() time.Time { return time.Unix(noon+int64(number%2)*oneDay, 0) }
			for range 100 {
				push, err := mine.Seal(plainPayload, to, plainPlaceholder, Options{})
				if err != nil || keyOf(push) != days[number%2].kid {
					t.Errorf("got %v, %v", push, err)
					return
				}
			}
		}()
	}
	group.Wait()
}

func TestARecordInASetOfOneAndInASetWithTimesHasItsDayKeys(t *testing.T) {
	today := newDay(t, 0, 1)
	record := recordWith(t, 1, oneDay, today)
	for _, times := range []string{"", fmt.Sprintf(`,"pushcrypt":{"seq":1,"keys":{"%s":{"activatesAt":"2026-01-01T00:00:00Z","psk":true}}}`, phone(t).kid)} {
		text := fmt.Sprintf(`{"keys":[%s]%s}`, record, times)
		to := ok[*Recipient](t)(ok[*Keyset](t)(ReadKeyset([]byte(text))).RecipientAt(time.Unix(noon, 0), false))
		if push := ok[*SealedPush](t)(sealAt(t, to, noon, Options{})); keyOf(push) != today.kid {
			t.Errorf("want %s, got %s", today.kid, keyOf(push))
		}
		_, err := ReadKeyset([]byte(strings.Replace(text, `86400`, `86401`, 1)))
		wantCode(t, "another flight", "notAuthentic", err)
		_, err = ReadKeyset([]byte(strings.Replace(text, `"deviceSet":"`, `"deviceSet":"A`, 1)))
		wantCode(t, "a damaged set", "malformed", err)
	}
}

func TestAPrivateRecordIsReadWithoutItsDeviceSet(t *testing.T) {
	text := strings.Replace(string(recordWith(t, 1, oneDay, newDay(t, 0, 1))), "{", `{"d":"`+base64Of(phone(t).secret)+`",`, 1)
	_, err := ReadRecipient([]byte(text))
	wantCode(t, "as a recipient", "wrongKind", err)
	if readKey(parse([]byte(text)), true).set != nil {
		t.Error("it has a set")
	}
}

func TestARecordHas4096BytesWithoutItsDeviceSet(t *testing.T) {
	record := recordWith(t, 1, oneDay, newDay(t, 0, 1))
	room := maxRecord - len(record) + len(parse(record).raw("deviceSet"))
	long := slices.Concat(record, []byte(strings.Repeat(" ", room)))
	ok[*Registration](t)(ReadRegistration(long))
	_, err := ReadRegistration(append(long, ' '))
	wantCode(t, "a byte more", "tooLarge", err)
	_, err = ReadRegistration(append([]byte("{"), strings.Repeat(" ", maxRecord+6*maxDeviceSet)...))
	wantCode(t, "a text that isn't parsed", "tooLarge", err)
}

func TestAChallengeIsSealedToTheKeyOfTheRecordAndItsAnswerConfirmsTheRecordWithItsSet(t *testing.T) {
	today := newDay(t, 0, 1)
	upload := ok[*Registration](t)(ReadRegistration(recordWith(t, 1, oneDay, today)))
	sealer := testSealer(t, true)
	sealer.Now = func() time.Time { return time.Unix(noon, 0) }
	text, pending, id, err := sealer.Challenge(upload, "push.example.com")
	if err != nil || parse(text).string("kid") != phone(t).kid {
		t.Fatalf("got %s, %v", text, err)
	}
	nonce := ok[[]byte](t)(binding{phone(t), testSigner(t).key(), testTopic, true}.open(parse(text).bytes("sealed", 0)))
	code := possessionCode(nonce, "push.example.com", id, upload.Record())
	confirmed := ok[*Registration](t)(Confirm(pending, write(map[string]string{"registration": id, "answer": base64Of(code)}), sealer.Now()))
	if push := ok[*SealedPush](t)(sealer.Seal(plainPayload, confirmed.Recipient, plainPlaceholder, Options{})); keyOf(push) != today.kid {
		t.Errorf("want %s, got %s", today.kid, keyOf(push))
	}
}

func TestAnOlderSetIsRolledBackAlsoWithAnotherTokenAndWithAProof(t *testing.T) {
	today := newDay(t, 0, 1)
	row := func(sequence int64, token string) Row {
		return Row{ok[*Registration](t)(ReadRegistration(recordWith(t, sequence, oneDay, today))), "alice", token, ""}
	}
	for _, isProven := range []bool{false, true} {
		_, _, err := row(4, "other").Storing([]Row{row(5, "t")}, isProven, true)
		wantCode(t, "a lower seq", "rolledBack", err)
		isWritten, _, err := row(6, "other").Storing([]Row{row(5, "t")}, isProven, true)
		if err != nil || !isWritten {
			t.Errorf("got %v, %v", isWritten, err)
		}
	}
}
