package pushcrypt

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

var classForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Receipt says what became of one push (PROTOCOL section 12). Anyone can post a receipt: use them as a statistic.
type Receipt struct {
	// ID is the same each time that the receipt is sent.
	ID string
	// Name is that of the push, SealedPush.ReceiptName, and PushID its push_id or the name. Both are empty if it couldn't be opened.
	Name, PushID string
	// Failure is a class of section 8, or one of the app's own. It is empty if the push was restored completely.
	Failure string
	Time    time.Time
	// KeyID and SenderKeyID are the keys that a push names which wasn't restored. Nothing proves them.
	KeyID, SenderKeyID       string
	IsSuppressed, IsSelfTest bool
}

// ReceiptName returns the name of the push in receipts.
func (p *SealedPush) ReceiptName() string {
	id, _ := base64.RawURLEncoding.DecodeString(p.ID)
	return base64Of(digest(label(" receipt"), id))
}

// ReadReceipt reads the body of a request: JSON, or a form. Errors: malformed.
func ReadReceipt(body []byte) (receipt *Receipt, err error) {
	defer catch(&err, "malformed", "the receipt")
	require(len(body) <= maxRecord, "", "it has more than 4,096 bytes")
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return readReceipt(parse(body)), nil
	}
	return readReceipt(parseForm(string(body))), nil
}

func readReceipt(root *object) *Receipt {
	r := &Receipt{
		ID: root.string("id"), Failure: root.string("outcome"), Time: time.Unix(root.integer("time", 0, maxInteger), 0),
		IsSuppressed: root.has("suppressed"), IsSelfTest: root.has("test"),
	}
	require(classForm.MatchString(r.Failure), "", "outcome is no class")
	if r.Failure == "opened" {
		r.Failure = ""
		require(!root.has("kid") && !root.has("skid"), "", "a restored push has a key")
	}
	r.Name = receiptName(r.ID, r.Failure)
	require(root.has("push") == (r.Name != ""), "", "push is missing, or the push couldn't be opened and has one")
	if root.has("push") {
		r.PushID = root.string("push")
		require(len(r.PushID) <= 256, "", "push has more than 256 bytes")
	}
	for name, field := range map[string]*string{"kid": &r.KeyID, "skid": &r.SenderKeyID} {
		if root.has(name) {
			*field = base64Of(root.bytes(name, 8))
		}
	}
	isTrue := (!r.IsSuppressed || root.get("suppressed") == true) && (!r.IsSelfTest || root.get("test") == true)
	require(isTrue, "", "suppressed or test isn't true")
	return r
}

// receiptName checks an id: name, name "-" CLASS, or 16 random bytes, which have no name.
func receiptName(id, failure string) string {
	if failure != "" && len(id) == 22 {
		unbase64(id, 16, "id")
		return ""
	}
	name := id
	if failure != "" {
		name = strings.TrimSuffix(id, "-"+failure)
		require(name != id, "", "id doesn't end with the class of the outcome")
	}
	unbase64(name, hashSize, "id")
	return name
}

// parseForm reads a form (URL Standard, section 5) as an object. Each field is there once.
func parseForm(text string) *object {
	form := &object{members: map[string]member{}}
	for _, field := range strings.Split(text, "&") {
		name, value, isPair := strings.Cut(field, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		isRight := isPair && strings.Count(field, "=") == 1 && name != "" && nameErr == nil && valueErr == nil && utf8.ValidString(name+value) && !form.has(name)
		require(isRight, "", "it is neither JSON nor a form with each field once, in UTF-8")
		switch name {
		case "time":
			form.members[name] = member{value: number(value)}
		case "suppressed", "test":
			form.members[name] = member{value: value == "true"}
		default:
			form.members[name] = member{value: value}
		}
	}
	return form
}
