package pushcrypt

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

func TestKeyRecordsAndSetsAreReadOrRefusedAsTheVectorsSay(t *testing.T) {
	each(t, vectors(t, "keysets-v1.json"), "vectors", func(t *testing.T, one *object) {
		text := []byte(one.string("text"))
		var ids []string
		var err error
		switch one.string("as") {
		case "recipient":
			var to *Recipient
			if to, err = ReadRecipient(text); err == nil {
				ids = []string{to.KeyID()}
			}
		case "signer":
			var signer *SenderKey
			if signer, err = ReadSenderKey(text); err == nil {
				ids = []string{signer.KeyID()}
			}
		default:
			var keys *Keyset
			if keys, err = ReadKeyset(text); err == nil {
				ids = slices.Collect(maps.Keys(keys.States(time.Time{})))
			}
			if one.string("as") == "senders" && err == nil && keys.Kind() != "sender" {
				return // What an app pins isn't read by a sender.
			}
		}
		if (err != nil) != (one.get("failure") != nil) {
			t.Fatalf("want the failure %v, got %v", one.get("failure"), err)
		}
		if err != nil {
			codeOf(t, err)
			return
		}
		for _, kid := range one.list("kids", 1, 100) {
			if !slices.Contains(ids, kid.(string)) {
				t.Errorf("the key %s is missing", kid)
			}
		}
	})
}

func TestAnOlderSetThanWasSeenIsRefused(t *testing.T) {
	record := RecordOf(t, "p256")
	text := fmt.Sprintf(`{"keys":[%s],"pushcrypt":{"seq":5,"keys":{"%s":{"activatesAt":"2026-01-01T00:00:00Z"}}}}`, record, kidOf(string(record)))
	keys := ok[*Keyset](t)(ReadKeyset([]byte(text)))
	wantCode(t, "the same", "", keys.RequireSequence(keys.Sequence()))
	wantCode(t, "a later one", "", keys.RequireSequence(4))
	wantCode(t, "an older one", "rolledBack", keys.RequireSequence(6))
}

func TestASetOfMoreThan4MiBIsRefused(t *testing.T) {
	longest := append(RecordOf(t, "sender"), bytes.Repeat([]byte(" "), maxKeyset-len(RecordOf(t, "sender")))...)
	for text, code := range map[string]string{string(longest): "", string(longest) + " ": "tooLarge"} {
		_, err := ReadKeyset([]byte(text))
		wantCode(t, fmt.Sprint(len(text)), code, err)
	}
}

func TestASetOfOneKeyThatDoesNotSealIsRefused(t *testing.T) {
	record, sender := string(RecordOf(t, "p256")), senderJWKs(t)[0]
	for entry, code := range map[string]string{
		`"activatesAt":"2020-01-01T00:00:00Z"`: "", `"activatesAt":"9999-01-01T00:00:00Z"`: "noKeySeals", `"createdAt":"2020-01-01T00:00:00Z"`: "noKeySeals",
		`"activatesAt":"2020-01-01T00:00:00Z","destroyedAt":"2021-01-01T00:00:00Z"`: "noKeySeals",
	} {
		set := func(jwk string) []byte {
			return fmt.Appendf(nil, `{"keys":[%s],"pushcrypt":{"seq":5,"keys":{"%s":{%s}}}}`, jwk, kidOf(jwk), entry)
		}
		_, err := ReadRecipient(set(record))
		wantCode(t, entry, code, err)
		_, err = ReadSenderKey(set(sender))
		wantCode(t, entry, code, err)
	}
}

func TestTheStatesOfKeysAreThoseOfTheVectors(t *testing.T) {
	each(t, vectors(t, "keysets-v1.json"), "states", func(t *testing.T, one *object) {
		keys := ok[*Keyset](t)(ReadKeyset([]byte(one.string("text"))))
		states := map[string]string{}
		for kid, state := range one.object("states").members {
			states[kid] = state.value.(string)
		}
		got := keys.States(time.Unix(one.integer("at", 0, maxInteger), 0))
		if !maps.Equal(states, got) {
			t.Errorf("want %v, got %v", states, got)
		}
		for kid, state := range got {
			if (state == "primary") != (kid == one.get("primary")) {
				t.Errorf("want the primary %v, got the state %s of %s", one.get("primary"), state, kid)
			}
		}
	})
}

func TestTheIDsOfCampaignsAreThoseOfTheVectors(t *testing.T) {
	keys := privateKeys(t)
	each(t, vectors(t, "keysets-v1.json"), "campaigns", func(t *testing.T, one *object) {
		id := messageID(one.string("campaign"), keys[one.string("key")])
		if id != one.string("id") {
			t.Errorf("want %s, got %s", one.string("id"), id)
		}
	})
}

func TestTimesAreThoseOfRFC3339(t *testing.T) {
	for text, want := range map[string]int64{
		"1970-01-01T00:00:00Z": 0, "1970-01-01t00:00:59.999z": 59, "1970-01-01T01:00:00+01:00": 0, "1969-12-31T23:30:00-00:30": 0,
		"2016-12-31T23:59:60Z": 1_483_228_800, "0000-01-01T00:00:00Z": firstSecond, "9999-12-31T23:59:59Z": lastSecond,
		"2024-02-29T00:00:00.5Z": 1_709_164_800,
	} {
		if got := readTime(text, "it"); got != want {
			t.Errorf("%s: want %d, got %d", text, want, got)
		}
	}
	for _, text := range []string{
		"", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01 00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T00:00:61Z",
		"2023-02-29T00:00:00Z", "1970-13-01T00:00:00Z", "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+00:60", "1970-01-01T00:00:00.Z",
		"1970-01-01T00:00:00,5Z", "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01", "1970-01-01T0:00:00Z", "1970-01-01T00:00:00Z\n",
		"+1970-01-01T00:00:00Z", "١٩٧٠-01-01T00:00:00Z",
	} {
		wantCode(t, text, "malformed", caught(func() { readTime(text, "it") }))
	}
}

func TestOfKeysThatSealTheNewestByActivationCreationAndKidIsChosen(t *testing.T) {
	first, second := readKey(parse([]byte(senderJWKs(t)[0])), true), readKey(parse([]byte(senderJWKs(t)[1])), true)
	if first.kid > second.kid {
		first, second = second, first
	}
	for _, one := range []struct {
		first, second times
		chosen        *key
	}{
		{times{"activatesAt": 1}, times{"activatesAt": 1}, second},
		{times{"activatesAt": 1, "createdAt": 1}, times{"activatesAt": 1}, first},
		{times{"activatesAt": 1, "createdAt": 2}, times{"activatesAt": 1, "createdAt": 1}, first},
		{times{"activatesAt": 2}, times{"activatesAt": 1, "createdAt": 9}, first},
		{times{"activatesAt": 9}, times{"activatesAt": 1}, second},
		{times{"activatesAt": 2, "retiresAt": 5}, times{"activatesAt": 1}, second},
		{times{"activatesAt": 2, "revokedAt": 5}, times{"activatesAt": 1, "retiresAt": 6}, second},
	} {
		keys := newKeyset("sender", 0, firstSecond, []*entry{{key: first, times: one.first}, {key: second, times: one.second}})
		if got := ok[*SenderKey](t)(keys.SenderKeyAt(time.Unix(5, 0))); got.KeyID() != one.chosen.kid {
			t.Errorf("%v and %v: got %s", one.first, one.second, got.KeyID())
		}
	}
}

func TestASetWhoseNewestKeyHasALowerSuiteIsRefusedUnlessItIsAllowed(t *testing.T) {
	high, low := privateKeys(t)["xwing"].publicHalf(nil), readKey(parse(RecordOf(t, "p256")), true)
	for _, one := range []struct {
		high, low int64
		code      string
	}{{1, 2, "suiteTooLow"}, {2, 1, ""}} {
		keys := newKeyset("recipient", 0, firstSecond, []*entry{{key: high, times: times{"activatesAt": one.high}}, {key: low, times: times{"activatesAt": one.low}}})
		_, err := keys.RecipientAt(time.Unix(5, 0), false)
		wantCode(t, "not allowed", one.code, err)
		to := ok[*Recipient](t)(keys.RecipientAt(time.Unix(5, 0), true))
		if (to.Suite() == 1) != (one.code != "") {
			t.Errorf("got suite %d", to.Suite())
		}
	}
}

func TestAKeyOfAnXWingPairIsCheckedInBothHalves(t *testing.T) {
	k := privateKeys(t)["xwing"]
	change := func(place int, value byte) *key {
		changed := *k
		changed.public = slices.Clone(k.public)
		changed.public[place] = value
		return &changed
	}
	if !k.prepare() {
		t.Error("the pair is refused")
	}
	for what, changed := range map[string]*key{
		"a coefficient of 3,329 or more": change(1, 0xFF), "another ML-KEM key": change(1_183, k.public[1_183]^1),
		"another X25519 key": change(1_184, k.public[1_184]^1), "an X25519 key of 2^255 and more": change(1_215, 0xFF),
	} {
		if changed.prepare() {
			t.Errorf("%s isn't refused", what)
		}
	}
}
