package pushcrypt

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var plainPlaceholder = Placeholder{Title: "New message"}

const plainPayload = `{"aps":{"alert":"Your results are in."}}`

// optionsOf reads the options of sender-refusals-v1.json. A zero is the default in Go, so the zeros that are refused become negative.
func optionsOf(t *testing.T, one *object) (options Options) {
	for name, member := range one.members {
		texts := func() (all []string) {
			for _, item := range one.list(name, 0, 100) {
				all = append(all, item.(string))
			}
			return all
		}
		integer := func() int { return cmp.Or(int(one.integer(name, -maxInteger, maxInteger)), -1) }
		switch name {
		case "limit":
			options.Limit = integer()
		case "expiresAfter":
			options.Lifetime = time.Duration(integer()) * time.Second
		case "campaign":
			options.Campaign = cmp.Or(one.string(name), strings.Repeat("x", 256))
		case "exposed":
			options.Exposed = texts()
		case "retract":
			options.Retracted = texts()
		case "badgeAdd":
			options.Badge = &Badge{int(one.integer(name, -maxInteger, maxInteger))}
		case "quiet":
			options.IsQuiet = true
		case "minimumSuite":
			options.MinimumSuite = integer()
		case "attachments":
			options.Attachments = attachmentsOf(t, one.raw(name))
		case "requiresDevice":
			options.AllowsBareSharedKey = member.value == false
		default:
			t.Fatalf("the option %s is unknown", name)
		}
	}
	return options
}

func attachmentsOf(t *testing.T, text []byte) (files []Attachment) {
	var all []struct {
		URL, Key, SHA256, Type, ID, Use string
		Size                            int64
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		files = append(files, Attachment{NewReference(one.URL, one.Key, one.Size, one.SHA256), one.Type, one.ID, one.Use})
	}
	return files
}

func TestPushesAreSealedOrRefusedWithTheCodeOfTheVectors(t *testing.T) {
	file := vectors(t, "sender-refusals-v1.json")
	keys := privateKeys(t)
	each(t, file, "seal", func(t *testing.T, one *object) {
		name, isSigned := one.string("to"), one.get("isSigned") == true
		to := ok[*Recipient](t)(ReadRecipient([]byte(file.object("records").string(name))))
		var placeholder Placeholder
		if err := json.Unmarshal(one.raw("placeholder"), &placeholder); err != nil {
			t.Fatal(err)
		}
		options := optionsOf(t, one.object("options"))
		if !one.object("options").has("requiresDevice") && name == "shared" {
			options.AllowsBareSharedKey = true
		}
		push, err := testSealer(t, isSigned).Seal(one.string("payload"), to, placeholder, options)
		want, _ := one.get("failure").(string)
		wantCode(t, "seal", want, err)
		if err != nil {
			return
		}
		var signer *key
		if isSigned {
			signer = testSigner(t).key()
		}
		message := openPush(t, push, keys[name], signer)
		end := message.members["pushcrypt"].start - len(`,"pushcrypt":`)
		inner := string(message.text[:end]) + string(message.text[message.members["pushcrypt"].end:])
		if strings.TrimRight(inner, " ") != strings.TrimRight(one.string("payload"), " ") {
			t.Errorf("want %s, got %s", one.string("payload"), inner)
		}
	})
}

func TestAnAlertIsVisibleAsTheVectorsSay(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	each(t, vectors(t, "alerts-v1.json"), "vectors", func(t *testing.T, one *object) {
		want := map[bool]string{true: "", false: "invalidPayload"}[one.get("isVisible") == true]
		_, err := testSealer(t, true).Seal(`{"aps":{"alert":`+one.string("alert")+`}}`, to, plainPlaceholder, Options{})
		wantCode(t, one.string("alert"), want, err)
	})
	for _, listed := range vectors(t, "alerts-v1.json").list("invisible", 1, 100) {
		var first, last rune
		if count, _ := fmt.Sscanf(listed.(string), "%X-%X", &first, &last); count == 1 {
			last = first
		}
		if !slices.Contains(invisible, [2]rune{first, last}) {
			t.Errorf("the range %s is missing", listed)
		}
	}
}

func TestAPayloadMayBeBytesATextOrAnyValueThatEncodingJSONWrites(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	type alert struct {
		Title string `json:"title"`
	}
	for _, value := range []any{
		[]byte(`{"aps":{"alert":{"title":"<é>"}}}`), json.RawMessage(`{"aps":{"alert":{"title":"<é>"}}}`), `{"aps":{"alert":{"title":"<é>"}}}`,
		map[string]any{"aps": map[string]any{"alert": alert{"<é>"}}},
	} {
		push := ok[*SealedPush](t)(testSealer(t, false).Seal(value, to, plainPlaceholder, Options{}))
		message := openPush(t, push, privateKeys(t)["p256 psk"], nil)
		if got := string(message.raw("aps")); got != `{"alert":{"title":"<é>"}}` {
			t.Error(got)
		}
	}
	_, err := testSealer(t, false).Seal(make(chan int), to, plainPlaceholder, Options{})
	wantCode(t, "a channel", "invalidPayload", err)
	_, err = testSealer(t, false).Seal(plainPayload, to, Placeholder{Body: "x\xff"}, Options{})
	wantCode(t, "a placeholder that isn't UTF-8", "invalidPlaceholder", err)
}

func TestWhatAppleShowsWithoutAnExtensionIsRefused(t *testing.T) {
	for _, member := range []string{`"content-state":{}`, `"attributes":{}`, `"attributes-type":"A"`, `"event":"start"`, `"event":"update"`, `"event":"end"`} {
		_, err := SealPayload(`{"aps":{"alert":"x",` + member + `}}`)
		wantCode(t, member, "invalidPayload", err)
	}
	for _, member := range []string{`"content-state":null`, `"event":"tap"`, `"event":1`} {
		_, err := SealPayload(`{"aps":{"alert":"x",` + member + `}}`)
		wantCode(t, member, "", err)
	}
}

func TestASoundIsHiddenOrTheDefaultOutside(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	for sound, want := range map[string]string{`"s.caf"`: `"default"`, `""`: "", `null`: "", `{}`: "", `{"name":"s"}`: `"default"`} {
		payload := `{"aps":{"alert":"x","sound":` + sound + `}}`
		push := ok[*SealedPush](t)(testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{}))
		aps := parse(push.Body).object("aps")
		if got := string(aps.raw("sound")); got != want {
			t.Errorf("%s: want %q, got %q", sound, want, got)
		}
		quiet := ok[*SealedPush](t)(testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{IsQuiet: true}))
		if parse(quiet.Body).object("aps").has("sound") {
			t.Errorf("a quiet push shows the sound %s", sound)
		}
	}
}

func TestAClockThatTheMessageCannotHaveIsRefused(t *testing.T) {
	to, sealer := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk"))), testSealer(t, true)
	for second, code := range map[int64]string{math.MaxInt64: "invalidOption", -1: "invalidOption", 0: "", maxInteger - 60: "", maxInteger - 59: "invalidOption"} {
		sealer.Now = func() time.Time { return time.Unix(second, 0) }
		_, err := sealer.Seal(plainPayload, to, plainPlaceholder, Options{Lifetime: time.Minute})
		wantCode(t, fmt.Sprint(second), code, err)
	}
}

func TestAReferenceIsCheckedBeforeItIsSealed(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	seal := func(files ...Attachment) error {
		_, err := testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, Options{Attachments: files})
		return err
	}
	good := Attachment{Reference: SealFile(nil).Reference("https://a/b?c=%2f"), Type: "image/png"}
	host := strings.Repeat("a", 253)
	for url, code := range map[string]string{
		"https://a": "", "https://a.b:65535/": "", "https://" + host: "", "https://a/" + strings.Repeat("b", 2_038): "", "https://[::1]/": "invalidOption",
		"https://a:0": "invalidOption", "https://a:65536": "invalidOption", "https://" + host + "a": "invalidOption", "http://a": "invalidOption",
		"https://a/" + strings.Repeat("b", 2_039): "invalidOption", "https://a/%2": "invalidOption", "https://a/ b": "invalidOption", "https://": "invalidOption",
		"https://a/#b": "invalidOption", "https://user@a/": "invalidOption", "HTTPS://a": "invalidOption", "https://a/\n": "invalidOption", "": "invalidOption",
	} {
		file := good
		file.URL = url
		if len(url) < 300 {
			wantCode(t, url, code, seal(file))
		}
		wantCode(t, url, map[string]string{"": "", "invalidOption": "malformed"}[code], caught(func() { file.check() }))
	}
	named, avatar := good, good
	named.ID, avatar.Use = "a", "avatar"
	for what, one := range map[string]struct {
		code  string
		files []Attachment
	}{
		"two without id": {"", []Attachment{good, good}}, "two of one id": {"invalidOption", []Attachment{named, named}},
		"two avatars": {"invalidOption", []Attachment{avatar, avatar}}, "an avatar and a file": {"", []Attachment{avatar, good}},
	} {
		wantCode(t, what, one.code, seal(one.files...))
	}
	for what, change := range map[string]func(*Attachment){
		"another use": func(file *Attachment) { file.Use = "icon" }, "a type in capitals": func(file *Attachment) { file.Type = "image/PNG" },
		"no type": func(file *Attachment) { file.Type = "" }, "an id with a dot": func(file *Attachment) { file.ID = "a.b" },
		"a negative size": func(file *Attachment) { file.Size = -1 }, "a size of more than 2^48": func(file *Attachment) { file.Size = 1<<48 + 1 },
		"a short key": func(file *Attachment) { file.Reference = NewReference(file.URL, "AAAA", 0, file.SHA256) }, "no digest": func(file *Attachment) { file.SHA256 = "" },
	} {
		file := good
		change(&file)
		wantCode(t, what, "invalidOption", seal(file))
	}
}

func TestABlobOfTheOtherPurposeAndASecondBadgeAreRefused(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	file := SealFile([]byte(plainPayload)).Reference("https://a")
	payload := ok[*SealedBlob](t)(SealPayload(plainPayload)).Reference("https://a")
	badge := ok[*SealedBlob](t)(SealPayload(`{"aps":{"alert":"x","badge":1}}`)).Reference("https://a")
	stored := NewReference(badge.URL, badge.Key(), badge.Size, badge.SHA256)
	for what, one := range map[string]struct {
		code    string
		options Options
	}{
		"a payload": {"", Options{Offloaded: &payload}}, "a file as a payload": {"invalidOption", Options{Offloaded: &file}},
		"a file":                     {"", Options{Attachments: []Attachment{{Reference: file, Type: "image/png"}}}},
		"a payload as a file":        {"invalidOption", Options{Attachments: []Attachment{{Reference: payload, Type: "image/png"}}}},
		"a payload with a badge":     {"", Options{Offloaded: &badge}},
		"a badge and a payload":      {"", Options{Offloaded: &payload, Badge: &Badge{1}}},
		"two badges":                 {"invalidPayload", Options{Offloaded: &badge, Badge: &Badge{1}}},
		"a payload that isn't known": {"", Options{Offloaded: &stored, Badge: &Badge{1}}},
		"a file that isn't known":    {"", Options{Attachments: []Attachment{{Reference: stored, Type: "image/png"}}}},
	} {
		_, err := testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, one.options)
		wantCode(t, what, one.code, err)
	}
}

func TestASealerNeedsATopicAndASignerOrTheWordUnsigned(t *testing.T) {
	for _, topic := range []string{"", "a b", "com_example", "com.example\n", strings.Repeat("a", 156), "é"} {
		_, err := NewUnsignedSealer(topic)
		wantCode(t, topic, "invalidTopic", err)
		_, err = NewSealer(topic, testSigner(t))
		wantCode(t, topic, "invalidTopic", err)
	}
	_, err := NewSealer(testTopic, nil)
	wantCode(t, "no signer", "wrongKind", err)
	for _, name := range []string{"p256 psk", "shared"} {
		_, err = NewSealer(testTopic, ok[*Keyset](t)(ReadKeyset(RecordOf(t, name))))
		wantCode(t, "a keyset of "+name, "wrongKind", err)
	}
	record := string(RecordOf(t, "p256"))
	pending := fmt.Sprintf(`{"keys":[%s],"pushcrypt":{"seq":1,"keys":{"%s":{}}}}`, record, kidOf(record))
	_, err = NewSealer(testTopic, ok[*Keyset](t)(ReadKeyset([]byte(pending))))
	wantCode(t, "a recipient's keyset without an active key", "wrongKind", err)
	record = string(RecordOf(t, "sender"))
	pending = fmt.Sprintf(`{"keys":[%s],"pushcrypt":{"seq":1,"keys":{"%s":{"activatesAt":"9000-01-01T00:00:00Z"}}}}`, record, kidOf(record))
	_, err = NewSealer(testTopic, ok[*Keyset](t)(ReadKeyset([]byte(pending))))
	wantCode(t, "a sender's keyset whose time comes", "", err)
}

type failingSigner struct{ err error }

func (s failingSigner) SenderKeyAt(time.Time) (*SenderKey, error) { return nil, s.err }

func TestTheErrorOfASignerComesBackUnchanged(t *testing.T) {
	cause := errors.New("the database is down")
	sealer := ok[*Sealer](t)(NewSealer(testTopic, failingSigner{cause}))
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	if _, err := sealer.Seal(plainPayload, to, plainPlaceholder, Options{}); err != cause {
		t.Errorf("got %v", err)
	}
}

func TestAPayloadThatDoesNotFitIsRefusedWithTheBytesTooMany(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	body := func(size int) string { return `{"aps":{"alert":"` + strings.Repeat("x", size) + `"}}` }
	_, err := testSealer(t, true).Seal(body(4_000), to, plainPlaceholder, Options{})
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != "tooLarge" || refused.BytesAvailable != 4_096 {
		t.Fatal(err)
	}
	// Base64url makes four bytes of three.
	tooMany := (refused.BytesNeeded-refused.BytesAvailable)*3/4 + 3
	push := ok[*SealedPush](t)(testSealer(t, true).Seal(body(4_000-tooMany), to, plainPlaceholder, Options{}))
	if len(push.Body) > 4_096 || push.IsOffloaded {
		t.Errorf("%d bytes", len(push.Body))
	}
}

func TestAPayloadThatDoesNotFitIsOffloadedIfAnOptionAllowsIt(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	payload := `{"x":1, "aps" : {"sound":"s","alert":{"body":"` + strings.Repeat("é", 2_500) + `"},"badge":2},"y":2}`
	var stored *SealedBlob
	store := func(blob *SealedBlob) (string, error) {
		stored = blob
		return "https://files.example.com/1", nil
	}
	push := ok[*SealedPush](t)(testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{Offload: store}))
	message := openPush(t, push, privateKeys(t)["p256 psk"], testSigner(t).key())
	if got := string(message.raw("aps")); !push.IsOffloaded || got != `{"sound":"s","alert":{"title":"New message"},"badge":2}` {
		t.Error(got)
	}
	reference := message.object("pushcrypt").object("offload")
	opened := openBlob(t, stored.Data, reference.bytes("key", 32), forPayload)
	if strings.TrimRight(string(opened), " ") != payload || len(opened)%4_096 != 0 || reference.integer("size", 0, maxPayload) != int64(len(opened)) {
		t.Errorf("%d bytes", len(opened))
	}
	small := ok[*SealedPush](t)(testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, Options{Offload: store}))
	if small.IsOffloaded {
		t.Error("a payload that fits is offloaded")
	}
	cause := errors.New("no space")
	_, err := testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{Offload: func(*SealedBlob) (string, error) { return "", cause }})
	wantCode(t, "a store that fails", "offloadFailed", err)
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	_, err = testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{Offload: func(*SealedBlob) (string, error) { return "http://a", nil }})
	wantCode(t, "an address without TLS", "invalidOption", err)
	_, err = testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{Offload: store, Limit: 300})
	wantCode(t, "a limit that is too low for the short alert", "tooLarge", err)
	stored = nil
	_, err = testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{Offload: store, IsQuiet: true})
	wantCode(t, "a quiet push", "invalidOption", err)
	if stored != nil {
		t.Error("the payload of a push that is refused is stored")
	}
}

func openBlob(t *testing.T, blob, key []byte, purpose byte) (plaintext []byte) {
	chunks, counter := slices.Collect(slices.Chunk(blob[4:], chunkSize+tagSize)), byte(0)
	for place, chunk := range chunks {
		nonce := make([]byte, nonceSize)
		nonce[10] = counter
		if place == len(chunks)-1 {
			nonce[11] = 1
		}
		counter++
		plaintext = append(plaintext, ok[[]byte](t)(gcm(key).Open(nil, nonce, chunk, []byte{'P', 'C', 'B', '1', purpose}))...)
	}
	return plaintext
}

func TestBlobsAreThoseOfTheVectors(t *testing.T) {
	each(t, vectors(t, "blobs-v1.json"), "blobs", func(t *testing.T, one *object) {
		size := int(one.integer("size", 0, 1<<30))
		plaintext := make([]byte, size)
		for i := range plaintext {
			plaintext[i] = byte(167*i + 13*(i>>8) + size)
		}
		made := sealBlob(one.bytes("key", 32), map[any]byte{"attachment": forAttachment, "payload": forPayload}[one.get("purpose")], plaintext)
		if base64Of(digest(made)) != one.string("sha256") {
			t.Error("another digest")
		}
	})
	each(t, vectors(t, "blobs-v1.json"), "payloads", func(t *testing.T, one *object) {
		text := one.string("start") + strings.Repeat(one.string("repeated"), int(one.integer("count", 0, 1<<20))) + one.string("end")
		_, err := SealPayload(text)
		want := map[bool]string{true: "", false: "invalidPayload"}[one.get("valid") == true]
		// A recipient's limit counts the padding, which a sender adds itself.
		if len(strings.TrimRight(text, " ")) == len(text) {
			wantCode(t, "payload", want, err)
		}
	})
}

func TestTheRequestOfACarrierHasWhatItsServiceTakes(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	payload := `{"aps":{"alert":"x","sound":"s.caf","badge":3,"content-available":1,"interruption-level":"time-sensitive","thread-id":"t"}}`
	options := Options{Exposed: []string{"sound", "badge", "interruption-level"}, Lifetime: time.Hour}
	for carrier, want := range map[Carrier]string{
		APNs: `null`, Rebuilt: `null`,
		FCM: `{"message":{"apns":{"headers":{"apns-expiration":"1800003600","apns-priority":"10","apns-push-type":"alert"},"payload":BODY}}}`,
		Text: `{"message":{"apns":{"headers":{"apns-expiration":"1800003600","apns-priority":"10","apns-push-type":"alert"},"payload":{"aps":APS}},` +
			`"data":{"pushcrypt":ENVELOPE}}}`,
		Expo: `{"_contentAvailable":true,"badge":3,"body":"b","data":DATA,"expiration":1800003600,"interruptionLevel":"time-sensitive",` +
			`"mutableContent":true,"priority":"high","sound":"s.caf","title":"a"}`,
		OneSignal: `{"content_available":true,"contents":{"en":"b"},"data":DATA,"headings":{"en":"a"},"ios_badgeCount":3,"ios_badgeType":"SetTo",` +
			`"ios_interruption_level":"time_sensitive","ios_sound":"s.caf","mutable_content":true,"priority":10,"ttl":3600}`,
	} {
		options.Carrier = carrier
		push := ok[*SealedPush](t)(testSealer(t, true).Seal(payload, to, Placeholder{Title: "a", Body: "b"}, options))
		root := parse(push.Body)
		data := map[Carrier]string{Expo: "body", OneSignal: "custom"}[carrier]
		if carrier == OneSignal {
			root.members["custom"] = member{nil, root.object("custom").members["a"].start, root.object("custom").members["a"].end}
		}
		replaced := strings.NewReplacer("BODY", string(push.Body), "APS", string(root.raw("aps")), "ENVELOPE", string(root.raw("pushcrypt")), "DATA", string(root.raw(data)))
		if got := string(write(push.Request())); got != replaced.Replace(want) {
			t.Errorf("%s: want %s, got %s", carrier, replaced.Replace(want), got)
		}
	}
	quiet := ok[*SealedPush](t)(testSealer(t, true).Seal(`{"aps":{"alert":"x"}}`, to, Placeholder{Body: "b"}, Options{Carrier: OneSignal, IsQuiet: true, CollapseID: "c"}))
	request := quiet.Request()
	if request["priority"] != 5 || request["ios_sound"] != "nil" || request["collapse_id"] != "c" || request["ios_badgeType"] != nil {
		t.Errorf("got %v", request)
	}
	for what, options := range map[string]Options{"a title": {Carrier: OneSignal}, "a collapse id": {Carrier: Expo, CollapseID: "c"}} {
		_, err := testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, options)
		wantCode(t, what, map[string]string{"a title": "invalidPlaceholder", "a collapse id": "invalidOption"}[what], err)
	}
	for id, code := range map[string]string{"": "", strings.Repeat("~", 64): "", strings.Repeat("~", 65): "invalidOption", "é": "invalidOption", "a\n": "invalidOption"} {
		_, err := testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, Options{CollapseID: id})
		wantCode(t, id, code, err)
	}
	_, err := testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{Carrier: Expo, Exposed: []string{"thread-id"}})
	wantCode(t, "a thread through Expo", "notExposable", err)
	_, err = testSealer(t, true).Seal(payload, to, plainPlaceholder, Options{Carrier: "fax"})
	wantCode(t, "an unknown carrier", "invalidOption", err)
}

func TestTheHeadersOfARequestToAPNs(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	push := ok[*SealedPush](t)(testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, Options{IsQuiet: true, CollapseID: "c", Lifetime: time.Minute}))
	want := `{"apns-collapse-id":"c","apns-expiration":"1800000060","apns-priority":"5","apns-push-type":"alert","apns-topic":"com.example.app"}`
	if got := string(write(push.Headers())); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestNoKeyOfABlobIsLogged(t *testing.T) {
	blob := SealFile([]byte("file")).Reference("https://a")
	var text strings.Builder
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&text, nil), slog.NewTextHandler(&text, nil)} {
		slog.New(handler).Info("sealed", "blob", blob, "pointer", &blob, "file", Attachment{Reference: blob, Type: "image/png"})
	}
	if strings.Contains(text.String(), blob.Key()) || strings.Count(text.String(), "blob of 4 bytes") != 6 {
		t.Error(text.String())
	}
}

func TestNoEncoderWritesASecret(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	registration, signer := ok[*Registration](t)(ReadRegistration(RecordOf(t, "p256 psk"))), testSigner(t)
	blob := SealFile([]byte("file"))
	reference := blob.Reference("https://a")
	file := Attachment{Reference: reference, Type: "image/png"}
	secrets := []string{reference.Key(), base64Of(to.key().psk), base64Of(signer.key().secret)}
	for _, secret := range secrets {
		secrets = append(secrets, base64.StdEncoding.EncodeToString(unbase64(secret, 32, "it")), string(unbase64(secret, 32, "it")))
	}
	for _, value := range []any{
		reference, &reference, file, &file, []Attachment{file}, struct{ File Attachment }{file}, blob, Row{Registration: registration}, registration,
		to, signer, ok[*Keyset](t)(ReadKeyset(RecordOf(t, "sender"))), watchedPlain(t), testSealer(t, true), Options{Offloaded: &reference},
	} {
		var text bytes.Buffer
		for _, encode := range []func(any) error{json.NewEncoder(&text).Encode, xml.NewEncoder(&text).Encode, gob.NewEncoder(&text).Encode} {
			func() {
				defer func() { _ = recover() }() // gob panics for a function
				_ = encode(value)
			}()
		}
		fmt.Fprintf(&text, "%+v %#v", struct{ hidden any }{value}, struct{ r Reference }{reference})
		for place, secret := range secrets {
			if strings.Contains(text.String(), secret) {
				t.Errorf("an encoding of %T has the secret %d", value, place)
			}
		}
	}
	stored := NewReference(reference.URL, reference.Key(), reference.Size, reference.SHA256)
	if stored.Key() != reference.Key() || (Reference{}).Key() != "" {
		t.Error("the key isn't that of the blob")
	}
	_, err := testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, Options{Attachments: []Attachment{{Type: "image/png"}}})
	wantCode(t, "a reference of nothing", "invalidOption", err)
	push := ok[*SealedPush](t)(testSealer(t, false).Seal(plainPayload, to, plainPlaceholder, Options{Attachments: []Attachment{{stored, "a/b", "c", "avatar"}, file}}))
	want := fmt.Sprintf(`[{"url":"https://a","key":"%s","size":4,"sha256":"%s","type":"a/b","id":"c","use":"avatar"},`, stored.Key(), stored.SHA256) +
		fmt.Sprintf(`{"url":"https://a","key":"%s","size":4,"sha256":"%s","type":"image/png"}]`, stored.Key(), stored.SHA256)
	if got := string(openPush(t, push, privateKeys(t)["p256 psk"], nil).object("pushcrypt").raw("attachments")); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestAnExposedNumberIsInTheRangeOfADouble(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	for number, code := range map[string]string{
		"0.5": "", "1e-99999999999": "", "-1E-400": "", "1e308": "", "-0": "", "1e309": "notExposable", "-1e99999999999": "notExposable",
	} {
		payload := `{"aps":{"alert":"x","relevance-score":` + number + `}}`
		push, err := testSealer(t, true).Seal(payload, to, Placeholder{Body: "b"}, Options{Carrier: OneSignal, Exposed: []string{"relevance-score"}})
		wantCode(t, number, code, err)
		if err == nil && !strings.Contains(string(write(push.Request())), `"ios_relevance_score":`+number) {
			t.Errorf("the request doesn't have %s", number)
		}
	}
}

func TestACampaignThatIsNotUTF8IsRefused(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	for campaign, code := range map[string]string{"é": "", "\xe9": "invalidOption"} {
		_, err := to.MessageID(campaign)
		wantCode(t, campaign, code, err)
		_, err = testSealer(t, true).Seal(plainPayload, to, plainPlaceholder, Options{Campaign: campaign})
		wantCode(t, campaign, code, err)
	}
}

func TestNoSecretIsPrinted(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	registration := ok[*Registration](t)(ReadRegistration(RecordOf(t, "p256 psk")))
	blob := SealFile([]byte("file"))
	signer := testSigner(t)
	keys := ok[*Keyset](t)(ReadKeyset(RecordOf(t, "p256 psk")))
	watcher := watchedPlain(t)
	secrets := [][]byte{watcher.Keyset().entries[0].key.secret, to.key().psk, signer.key().secret, unbase64(blob.reference().Key(), 32, "key")}
	for _, value := range []any{
		to, *to, signer, *signer, registration, blob, Attachment{Reference: blob.Reference("https://a"), Type: "image/png"}, blob.Reference("https://a"),
		testSealer(t, true), keys, *keys, struct{ r Registration }{*registration}, watcher, watcher.Keyset(),
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
			text := fmt.Sprintf(verb, value)
			for _, secret := range secrets {
				for _, form := range []string{base64Of(secret), fmt.Sprintf("%x", secret), strings.Trim(fmt.Sprint(secret), "[]"), fmt.Sprintf("%#v", secret)[7:40]} {
					if strings.Contains(text, form) {
						t.Errorf("%s of %T prints a secret", verb, value)
					}
				}
			}
			for _, form := range []string{`"psk"`, fmt.Sprintf("%x", `"psk"`), strings.Trim(fmt.Sprint([]byte(`"psk"`)), "[]")} {
				if strings.Contains(text, form) {
					t.Errorf("%s of %T prints a record", verb, value)
				}
			}
		}
	}
}
