package pushcrypt

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func demandsOf(one *object) (demands []Demand) {
	for _, name := range one.list("requiring", 0, 2) {
		demands = append(demands, map[any]Demand{"psk": RequirePSK, "asymmetric": RequireAsymmetric}[name])
	}
	return demands
}

func TestRegistrationsAreReadOrRefusedWithTheCodeOfTheVectors(t *testing.T) {
	each(t, vectors(t, "sender-refusals-v1.json"), "register", func(t *testing.T, one *object) {
		registration, err := ReadRegistration([]byte(one.string("record")), demandsOf(one)...)
		want, _ := one.get("failure").(string)
		wantCode(t, "register", want, err)
		if err == nil && string(registration.Record()) != one.string("record") {
			t.Error("the record was changed")
		}
	})
}

func rowOf(t *testing.T, value any) Row {
	one := value.(*object)
	environment, _ := one.get("environment").(string)
	return Row{ok[*Registration](t)(ReadRegistration([]byte(one.string("record")))), one.string("account"), one.string("deviceToken"), environment}
}

func TestAnUploadReplacesTheRowsOfTheVectors(t *testing.T) {
	each(t, vectors(t, "sender-refusals-v1.json"), "store", func(t *testing.T, one *object) {
		var stored []Row
		for _, row := range one.list("stored", 0, 100) {
			stored = append(stored, rowOf(t, row))
		}
		isWritten, gone, err := rowOf(t, one.get("upload")).Storing(stored, one.get("isProven") == true, one.get("allowsLowerSuite") == true)
		want, _ := one.get("failure").(string)
		wantCode(t, "store", want, err)
		if err != nil {
			return
		}
		var removed []string
		for _, kid := range one.list("removed", 0, 100) {
			removed = append(removed, kid.(string))
		}
		if isWritten != (one.get("isWritten") == true) || !slices.Equal(gone, removed) {
			t.Errorf("got %v, %v", isWritten, gone)
		}
	})
}

func TestAChallengeIsMadeOrRefusedWithTheCodeOfTheVectors(t *testing.T) {
	to := privateKeys(t)["p256 psk"]
	each(t, vectors(t, "sender-refusals-v1.json"), "challenge", func(t *testing.T, one *object) {
		want, _ := one.get("failure").(string)
		registration, err := ReadRegistration([]byte(one.string("record")))
		if err != nil {
			wantCode(t, "record", want, err)
			return
		}
		sealer := testSealer(t, true)
		text, pending, id, err := sealer.Challenge(registration, one.string("host"))
		wantCode(t, "challenge", want, err)
		if err != nil {
			return
		}
		challenge := parse(text)
		bound := binding{to, testSigner(t).key(), testTopic, true}
		nonce := ok[[]byte](t)(bound.open(challenge.bytes("sealed", 0)))
		code := possessionCode(nonce, one.string("host"), challenge.string("registration"), registration.Record())
		answer := write(map[string]string{"registration": id, "answer": base64Of(code)})
		if got := ok[string](t)(AnsweredID(answer)); got != id {
			t.Errorf("want %s, got %s", id, got)
		}
		confirmed := ok[*Registration](t)(Confirm(pending, answer, sealer.Now()))
		if string(confirmed.Record()) != one.string("record") {
			t.Error("another record")
		}
		if _, err := (binding{to, testSigner(t).key(), testTopic, false}).open(challenge.bytes("sealed", 0)); err == nil {
			t.Error("a challenge opens as a push")
		}
	})
}

func TestAnswersAreConfirmedOrRefusedAsTheVectorsSay(t *testing.T) {
	file := vectors(t, "possession-v1.json")
	made := file.object("pending")
	record := []byte(made.string("record"))
	stored := map[string]any{"version": 1, "kid": kidOf(string(record)), "hasPSK": true, "record": string(record)}
	pending := write(map[string]any{"version": 1, "id": made.string("registration"), "registration": stored,
		"codeDigest": made.string("codeDigest"), "challengedAt": made.integer("challengedAt", 0, maxInteger)})
	code := possessionCode(made.bytes("nonce", 32), made.string("host"), made.string("registration"), record)
	wantBytes(t, "codeDigest", made.bytes("codeDigest", 32), digest(code))
	each(t, file, "answers", func(t *testing.T, one *object) {
		confirmed, err := Confirm(pending, []byte(one.string("answer")), time.Unix(one.integer("at", 0, maxInteger), 0))
		want, _ := one.get("failure").(string)
		wantCode(t, "answer", want, err)
		if err == nil && string(confirmed.Record()) != string(record) {
			t.Error("another registration")
		}
	})
}

func TestAPendingRegistrationWhoseRecordWasChangedIsRefused(t *testing.T) {
	registration, sealer := ok[*Registration](t)(ReadRegistration(RecordOf(t, "p256 psk"))), testSealer(t, true)
	other := ok[*Registration](t)(ReadRegistration(RecordOf(t, "p256")))
	_, pending, id, err := sealer.Challenge(registration, "push.example.com")
	if err != nil {
		t.Fatal(err)
	}
	members := map[string]any{}
	if err := json.Unmarshal(pending, &members); err != nil {
		t.Fatal(err)
	}
	confirm := func() error {
		_, err := Confirm(write(members), write(map[string]string{"registration": id, "answer": base64Of(make([]byte, 32))}), sealer.Now())
		return err
	}
	wantCode(t, "the wrong answer", "possessionNotProven", confirm())
	stored := members["registration"].(map[string]any)
	stored["record"] = string(other.Record())
	wantCode(t, "a record without psk", "pskMissing", confirm())
	stored["hasPSK"], stored["kid"] = false, other.KeyID()
	wantCode(t, "another record, whole", "possessionNotProven", confirm())
	stored["kid"] = "AAAAAAAAAAA"
	wantCode(t, "another kid", "malformed", confirm())
	members["version"] = 2
	wantCode(t, "another version", "malformed", confirm())
}

func TestTheNameOfAPushInReceiptsIsThatOfItsID(t *testing.T) {
	push := SealedPush{ID: "AAECAwQFBgcICQoLDA0ODw"}
	if got := push.ReceiptName(); got != "AbUoTjmnjuFXJjgzIdCIGt_Ba4bEKOu8Avvn6aifxGo" {
		t.Error(got)
	}
}

func TestReceiptsAreReadAsJSONAndAsAForm(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	name := ok[*SealedPush](t)(testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, Options{})).ReceiptName()
	for _, body := range []string{
		`{"id":"` + name + `","push":"é","outcome":"opened","time":5,"test":true,"x":1}`, " id=" + name,
		"id=" + name + "&push=%C3%A9&outcome=opened&time=5&test=true&x=+",
	} {
		receipt, err := ReadReceipt([]byte(body))
		if body[0] == ' ' {
			wantCode(t, body, "malformed", err)
			continue
		}
		want := Receipt{ID: name, Name: name, PushID: "é", Time: time.Unix(5, 0), IsSelfTest: true}
		if err != nil || *receipt != want {
			t.Errorf("want %v, got %v, %v", want, receipt, err)
		}
	}
	failed := ok[*Receipt](t)(ReadReceipt([]byte(`{"id":"` + name + `-timedOut","push":"1","outcome":"timedOut","time":5,"kid":"AAAAAAAAAAA"}`)))
	if failed.Failure != "timedOut" || failed.Name != name || failed.KeyID != "AAAAAAAAAAA" {
		t.Errorf("got %v", failed)
	}
	for size, code := range map[int]string{256: "", 257: "malformed"} {
		_, err := ReadReceipt([]byte(`{"id":"` + name + `","push":"` + strings.Repeat("x", size) + `","outcome":"opened","time":5}`))
		wantCode(t, "push", code, err)
	}
	for _, form := range []string{"", "&", "id", "a=1=2", "=1", "a=%", "a=%4g", "a=%FF", "a=1&a=2", "a=1&"} {
		_, err := ReadReceipt([]byte(form + "&id=" + name + "&push=1&outcome=opened&time=5"))
		wantCode(t, form, "malformed", err)
	}
	for push, code := range map[string]string{"id%3D41": "", "id=41": "malformed", "=": "malformed", "1=": "malformed"} {
		_, err := ReadReceipt([]byte("id=" + name + "&push=" + push + "&outcome=opened&time=5"))
		wantCode(t, push, code, err)
	}
}
