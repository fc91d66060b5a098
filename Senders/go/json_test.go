package pushcrypt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// refusedTexts are texts that aren't strict JSON of an object. encoding/json reads some of them.
var refusedTexts = map[string]string{
	"nothing": "", "white space": " ", "an array": "[]", "a string": `"x"`, "null": "null", "a second value": "{} {}", "an open object": "{",
	"a name twice": `{"a":1,"a":1}`, "a name twice, escaped": `{"a":1,"\u0061":1}`, "a name twice, deep": `{"x":[{"y":{"a":1,"b":2,"a":3}}]}`,
	"an empty name twice": `{"":1,"":1}`, "a byte order mark": "\ufeff{}", "no UTF-8": "{\"a\":\"\xff\"}", "a surrogate in UTF-8": "{\"a\":\"\xed\xa0\x80\"}",
	"an overlong character": "{\"a\":\"\xc0\xaf\"}", "a lone high surrogate": `{"a":"\ud800"}`, "a lone low surrogate": `{"a":"\udc00"}`,
	"two high surrogates": `{"a":"\ud800\ud800"}`, "a lone surrogate in a name": `{"\ud800":1}`, "a surrogate before a letter": `{"a":"\ud800x"}`,
	"a surrogate and digits": `{"a":"\ud83dde00"}`, "an escape that the text ends in": `{"a":"\u00`, "a short escape": `{"a":"\u00"}`, "an escape with a sign": `{"a":"\u+041"}`, "an escape with an underscore": `{"a":"\u0_41"}`,
	"an unknown escape": `{"a":"\x41"}`, "a control character": "{\"a\":\"\x1f\"}", "a line break in a string": "{\"a\":\"\n\"}", "an open string": `{"a":"`,
	"an escape at the end": `{"a":"\`, "a comma at the end": `{"a":1,}`, "a comma at the start": `{,"a":1}`, "two commas": `{"a":[1,,2]}`,
	"no comma": `{"a":1 "b":2}`, "no colon": `{"a" 1}`, "no value": `{"a":}`, "a number as a name": `{1:1}`, "single quotes": `{'a':1}`,
	"a leading zero": `{"a":01}`, "a plus": `{"a":+1}`, "no digits before the point": `{"a":.5}`, "no digits behind the point": `{"a":1.}`,
	"no exponent": `{"a":1e}`, "two signs": `{"a":--1}`, "a minus alone": `{"a":-}`, "a hexadecimal number": `{"a":0x1}`, "NaN": `{"a":NaN}`,
	"two numbers": `{"a":1-2}`, "True": `{"a":True}`, "a literal with more": `{"a":nullx}`, "a comment": "{}//", "a form feed": "{}\f",
	"a no-break space": "\u00a0{}", "65 levels of arrays": `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}",
	"65 levels of objects": strings.Repeat(`{"a":`, 64) + "{}" + strings.Repeat("}", 64),
}

var acceptedTexts = map[string]string{
	"an empty object": "{}", "white space": " \t\r\n{ \"a\" : [ 1 , { } ] } \n", "64 levels": `{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + "}",
	"names in other case": `{"a":1,"A":2,"K":3,"\u212a":4}`, "escapes": `{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, "a NUL": `{"a":"\u0000"}`,
	"numbers": `{"a":[0,-0,1.50e0,1E+2,1e-2,1e400,123456789012345678901234567890,-0.0]}`, "literals": `{"a":[true,false,null]}`,
	"noncharacters": "{\"a\":\"\uffff\U0010ffff\"}", "DEL": "{\"a\":\"\x7f\"}",
}

func TestTextsThatAreNotStrictJSONAreRefused(t *testing.T) {
	for name, text := range refusedTexts {
		wantCode(t, name, "malformed", caught(func() { parse([]byte(text)) }))
	}
}

func TestStrictJSONIsReadWithItsTextsAndNumbers(t *testing.T) {
	for name, text := range acceptedTexts {
		wantCode(t, name, "", caught(func() { parse([]byte(text)) }))
	}
	root := parse([]byte(` {"a":"\ud83d\ude00\n", "n":[1.50e0], "o":{"x":1} }`))
	if root.get("a") != "😀\n" || root.list("n", 1, 1)[0] != number("1.50e0") || string(root.raw("o")) != `{"x":1}` {
		t.Errorf("read %v", root.members)
	}
	if values := parse([]byte(`{"a":[1,{"b":2}],"c":""}`)).values; values != 6 {
		t.Errorf("want 6 values, got %d", values)
	}
}

func TestNoRefusalAndNoCauseOfItHasTheText(t *testing.T) {
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	for _, broken := range []string{`{"k":"SECRET",}`, `{"k":"SECRET\ud800"}`, "{\"k\":\"SECRET\xff\"}", `{"k":"SECRET"}[`, `{"kid":"SECRET"}`, strings.Repeat("[", 9_999) + "SECRET"} {
		for name, read := range map[string]func() error{
			"ReadKeyset":       func() error { _, err := ReadKeyset([]byte(broken)); return err },
			"ReadRecipient":    func() error { _, err := ReadRecipient([]byte(broken)); return err },
			"ReadRegistration": func() error { _, err := ReadRegistration([]byte(broken)); return err },
			"ReadReceipt":      func() error { _, err := ReadReceipt([]byte(broken)); return err },
			"Confirm":          func() error { _, err := Confirm([]byte(broken), []byte(broken), time.Now()); return err },
			"Seal":             func() error { _, err := testSealer(t, true).Seal(broken, to, plainPlaceholder, Options{}); return err },
			"parseKeyset":      func() error { return caught(func() { parseKeyset([]byte(broken+"\n"+broken+"\n"), nil, false) }) },
		} {
			err := read()
			if err == nil {
				t.Errorf("%s takes %.20s", name, broken)
			}
			for ; err != nil; err = errors.Unwrap(err) {
				if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "SECRET") {
					t.Errorf("an error of %s has the text", name)
				}
			}
		}
	}
}

func TestWhiteSpaceOutsideOfStringsIsRefusedWhereItMustNotBe(t *testing.T) {
	for _, text := range []string{` {}`, `{} `, `{"a": 1}`, `{"a":1 }`, "{\"a\":[1,\t2]}"} {
		wantCode(t, text, "malformed", caught(func() { parseCompact([]byte(text)) }))
	}
	wantCode(t, "white space in strings", "", caught(func() { parseCompact([]byte(`{"a b":" x "}`)) }))
}

func TestIntegersHaveNoFractionExponentOrSign(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "9007199254740991", "-999"} {
		if !isInteger(number(text), -maxInteger, maxInteger) {
			t.Errorf("%s isn't an integer", text)
		}
	}
	for _, value := range []any{number("-0"), number("1.0"), number("1e3"), number("9007199254740992"), number("99999999999999999999"), "1", true, nil} {
		if isInteger(value, -maxInteger, maxInteger) {
			t.Errorf("%v is an integer", value)
		}
	}
}

func TestBase64urlIsCanonical(t *testing.T) {
	for _, text := range []any{"", "AA==", "AB", "A", "AA\n", "A A", "+/8", "AAAAA", nil, number("1"), "ÄÄ"} {
		wantCode(t, "base64url", "malformed", caught(func() { unbase64(text, 0, "it") }))
	}
	wantBytes(t, "-_8", []byte{0xfb, 0xff}, unbase64("-_8", 2, "it"))
	wantCode(t, "another size", "malformed", caught(func() { unbase64("-_8", 3, "it") }))
}

func TestWrittenJSONEscapesNeitherMarkupNorLetters(t *testing.T) {
	if got := string(write(map[string]any{"a": "<é&>"})); got != `{"a":"<é&>"}` {
		t.Error(got)
	}
}

// FuzzParse finds texts that end the parser in another way than by a refusal, or that it reads although they aren't JSON.
func FuzzParse(f *testing.F) {
	for _, texts := range []map[string]string{refusedTexts, acceptedTexts} {
		for _, text := range texts {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var root *object
		if err := caught(func() { root = parse(text) }); err != nil {
			codeOf(t, err)
			return
		}
		if !json.Valid(text) || !utf8.Valid(text) {
			t.Fatalf("read %q", text)
		}
		for name := range root.members {
			raw := root.raw(name)
			again := parse(join([]byte(`{"x":`), raw, []byte("}")))
			if string(again.raw("x")) != string(raw) {
				t.Fatalf("the text of %q is %q", name, raw)
			}
		}
		var decoded map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&decoded); err != nil || len(decoded) != len(root.members) {
			t.Fatalf("want %d members, got %d", len(decoded), len(root.members))
		}
	})
}

// FuzzReaders finds bytes that end a reader in another way than by an *Error.
func FuzzReaders(f *testing.F) {
	for _, one := range vectors(f, "keyset-log-v1.json").list("accepted", 1, 1_000)[:5] {
		f.Add([]byte(one.(*object).string("keyset")))
	}
	for _, member := range vectors(f, "sender-refusals-v1.json").object("records").members {
		f.Add([]byte(member.value.(string)))
	}
	f.Add([]byte("id=AAECAwQFBgcICQoLDA0ODw&outcome=unknownKey&time=1&kid=AAAAAAAAAAA&x=%C3%A9+"))
	f.Add([]byte(`{"registration":"a","answer":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := ReadKeyset(text)
		codeOf(t, err)
		_, err = ReadRegistration(text)
		codeOf(t, err)
		_, err = ReadReceipt(text)
		codeOf(t, err)
		_, err = AnsweredID(text)
		codeOf(t, err)
		_, err = SealPayload(text)
		codeOf(t, err)
		_, err = Confirm(text, text, time.Now())
		codeOf(t, err)
		codeOf(t, caught(func() { parseKeyset(text, func([]*object) []byte { return make([]byte, 32) }, false) }))
	})
}
