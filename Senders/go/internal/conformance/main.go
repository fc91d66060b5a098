// Conformance is the package behind the wire of the conformance kit (Conformance/README.md of the repository).
package main

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	pushcrypt "github.com/pushcrypt/pushcrypt/Senders/go"
)

type members = map[string]any

// request is a line of the kit. A member that may be missing is a pointer, or raw.
type request struct {
	Tag                       json.RawMessage
	Op, Topic, Payload, To    string
	At                        *int64
	Placeholder               pushcrypt.Placeholder
	SignWith, Device          *string
	Pad                       json.RawMessage
	Limit, Expires            *int
	Expose, Retract           []string
	Bare, Quiet, SelfTest     bool
	RequiresDayKey            bool
	Carrier                   pushcrypt.Carrier
	Campaign                  *string
	BadgeAdd                  *int
	MinimumSuite              *int
	Attachments               []json.RawMessage
	Offload                   json.RawMessage
	As, Text, Record, Host    string
	Requiring                 []string
	Answer, Body              string
	Pending                   json.RawMessage
	Upload                    row
	Stored                    []row
	Proven, AllowsLowerSuite  bool
	Purpose                   string
	Plaintext                 *string
	Keys, Challenge, Document string
}

type row struct{ Record, Account, DeviceToken, Environment string }

var errUnsupported = errors.New("the recipient's side")

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		fmt.Println(answered(line))
	}
}

// answered returns a line of ASCII.
func answered(line []byte) string {
	var asked request
	err := json.Unmarshal(line, &asked)
	answer := members{}
	if err == nil {
		answer, err = run(&asked)
	} else if asked.Op == "set" { // whose stored is an object
		err = errUnsupported
	}
	var refused *pushcrypt.Error
	switch {
	case err == errUnsupported:
		answer = members{"unsupported": err.Error()}
	case errors.As(err, &refused):
		answer = members{"failure": refused.Code}
	case err != nil:
		answer = members{"failure": "malformed"}
	default:
		answer["ok"] = true
	}
	answer["tag"] = asked.Tag
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	var ascii strings.Builder
	for _, point := range string(text) {
		switch {
		case point < 0x7F:
			ascii.WriteRune(point)
		case point < 0x10000:
			fmt.Fprintf(&ascii, `\u%04x`, point)
		default:
			point -= 0x10000
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, 0xD800+point>>10, 0xDC00+point&0x3FF)
		}
	}
	return ascii.String()
}

func run(asked *request) (members, error) {
	switch asked.Op {
	case "seal":
		return seal(asked)
	case "record":
		registration, err := registration(asked)
		if err != nil {
			return nil, err
		}
		return members{"kid": registration.KeyID()}, nil
	case "keys":
		return keys(asked)
	case "challenge":
		return challenge(asked)
	case "confirm":
		registration, err := pushcrypt.Confirm(asked.Pending, []byte(asked.Answer), now(asked))
		if err != nil {
			return nil, err
		}
		return members{"record": string(registration.Record()), "kid": registration.KeyID(), "suite": registration.Suite()}, nil
	case "change":
		return change(asked)
	case "receipt":
		return receipt(asked)
	case "blob":
		return blob(asked)
	}
	return nil, errUnsupported
}

func now(asked *request) time.Time { return time.Unix(*asked.At, 0) }

// isSet says whether it is a set with times, from which a key is chosen by time.
func isSet(text string) bool {
	var root map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &root) == nil && root["pushcrypt"] != nil
}

func sealer(asked *request) (*pushcrypt.Sealer, error) {
	made, err := pushcrypt.NewUnsignedSealer(asked.Topic)
	if asked.SignWith != nil {
		var signer pushcrypt.Signer
		if text := []byte(*asked.SignWith); isSet(*asked.SignWith) {
			signer, err = pushcrypt.ReadKeyset(text)
		} else {
			signer, err = pushcrypt.ReadSenderKey(text)
		}
		if err != nil {
			return nil, err
		}
		made, err = pushcrypt.NewSealer(asked.Topic, signer)
	}
	if err != nil {
		return nil, err
	}
	made.Now = func() time.Time { return now(asked) }
	return made, nil
}

func recipient(asked *request) (*pushcrypt.Recipient, error) {
	if !isSet(asked.To) {
		return pushcrypt.ReadRecipient([]byte(asked.To))
	}
	keys, err := pushcrypt.ReadKeyset([]byte(asked.To))
	if err != nil {
		return nil, err
	}
	return keys.RecipientAt(now(asked), false)
}

func seal(asked *request) (members, error) {
	to, err := recipient(asked)
	if err == nil && asked.Device != nil {
		to, err = to.ForDevice(*asked.Device)
	}
	if err != nil {
		return nil, err
	}
	options, err := options(asked)
	if err != nil {
		return nil, err
	}
	sealer, err := sealer(asked)
	if err != nil {
		return nil, err
	}
	push, err := sealer.Seal(asked.Payload, to, asked.Placeholder, options)
	if err != nil {
		return nil, err
	}
	return members{"payload": string(push.Body), "id": push.ID, "expiresAt": push.ExpiresAt.Unix(), "usesLastResortKey": push.UsesLastResortKey}, nil
}

// given is a member of the wire as an option of Go, where a zero is the default: the wire's zeros are refused as negative numbers.
func given(member *int) int {
	if member == nil {
		return 0
	}
	return cmp.Or(*member, -1)
}

func options(asked *request) (options pushcrypt.Options, err error) {
	options = pushcrypt.Options{
		Limit: given(asked.Limit), Lifetime: time.Duration(given(asked.Expires)) * time.Second, MinimumSuite: given(asked.MinimumSuite),
		Exposed: asked.Expose, Retracted: asked.Retract, IsQuiet: asked.Quiet, IsSelfTest: asked.SelfTest, AllowsBareSharedKey: asked.Bare,
		Carrier: asked.Carrier, RequiresDayKey: asked.RequiresDayKey,
	}
	if asked.BadgeAdd != nil {
		options.Badge = &pushcrypt.Badge{Add: *asked.BadgeAdd}
	}
	switch string(asked.Pad) {
	case "":
	case `"max"`:
		options.Padding = pushcrypt.PadToLimit
	case `"none"`:
		options.Padding = pushcrypt.NoPadding
	default:
		var multiple int
		err = json.Unmarshal(asked.Pad, &multiple)
		options.Padding = given(&multiple)
	}
	if asked.Campaign != nil {
		options.Campaign = *asked.Campaign
		if options.Campaign == "" {
			err = errors.New("the campaign is empty")
		}
	}
	for _, text := range asked.Attachments {
		file, fileErr := attachment(text)
		options.Attachments, err = append(options.Attachments, file), errors.Join(err, fileErr)
	}
	if len(asked.Offload) > 0 {
		payload, payloadErr := attachment(asked.Offload)
		options.Offloaded, err = &payload.Reference, errors.Join(err, payloadErr)
	}
	return options, err
}

// attachment reads a reference. In Go an empty text is one that isn't there, so the wire's empty texts are refused here.
func attachment(text json.RawMessage) (file pushcrypt.Attachment, err error) {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return file, err
	}
	for _, name := range []string{"id", "use"} {
		if value, isGiven := all[name]; isGiven && (value == "" || value == nil) {
			return file, fmt.Errorf("%s is empty", name)
		}
	}
	if all["size"] == nil {
		return file, errors.New("size is missing")
	}
	var parts struct {
		URL, Key, SHA256, Type, ID, Use string
		Size                            int64
	}
	err = json.Unmarshal(text, &parts)
	reference := pushcrypt.NewReference(parts.URL, parts.Key, parts.Size, parts.SHA256)
	return pushcrypt.Attachment{Reference: reference, Type: parts.Type, ID: parts.ID, Use: parts.Use}, err
}

func registration(asked *request) (*pushcrypt.Registration, error) {
	var demands []pushcrypt.Demand
	for _, one := range asked.Requiring {
		demands = append(demands, map[string]pushcrypt.Demand{"psk": pushcrypt.RequirePSK, "asymmetric": pushcrypt.RequireAsymmetric}[one])
	}
	return pushcrypt.ReadRegistration([]byte(asked.Record), demands...)
}

func keys(asked *request) (members, error) {
	text := []byte(asked.Text)
	switch asked.As {
	case "recipient":
		to, err := pushcrypt.ReadRecipient(text)
		if err != nil {
			return nil, err
		}
		return members{"kids": []string{to.KeyID()}}, nil
	case "signer":
		signer, err := pushcrypt.ReadSenderKey(text)
		if err != nil {
			return nil, err
		}
		return members{"kids": []string{signer.KeyID()}}, nil
	}
	keyset, err := pushcrypt.ReadKeyset(text)
	if err != nil {
		return nil, err
	}
	if asked.As == "senders" && keyset.Kind() != "sender" {
		return nil, errors.New("no senders")
	}
	// In the order of the set.
	var set struct {
		Kid  string
		Keys []struct{ Kid string }
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	kids := []string{}
	for _, one := range append(set.Keys, struct{ Kid string }{set.Kid}) {
		if keyset.States(time.Time{})[one.Kid] != "" {
			kids = append(kids, one.Kid)
		}
	}
	answer := members{"kids": kids}
	if asked.At != nil {
		answer["primary"], answer["states"] = nil, keyset.States(now(asked))
		for kid, state := range keyset.States(now(asked)) {
			if state == "primary" {
				answer["primary"] = kid
			}
		}
	}
	return answer, nil
}

func challenge(asked *request) (members, error) {
	upload, err := registration(asked)
	if err != nil {
		return nil, err
	}
	sealer, err := sealer(asked)
	if err != nil {
		return nil, err
	}
	challenge, pending, _, err := sealer.Challenge(upload, asked.Host)
	if err != nil {
		return nil, err
	}
	return members{"challenge": string(challenge), "pending": json.RawMessage(pending)}, nil
}

func (r row) read() (pushcrypt.Row, error) {
	registration, err := pushcrypt.ReadRegistration([]byte(r.Record))
	return pushcrypt.Row{Registration: registration, Account: r.Account, DeviceToken: r.DeviceToken, Environment: r.Environment}, err
}

func change(asked *request) (members, error) {
	upload, err := asked.Upload.read()
	var stored []pushcrypt.Row
	for _, one := range asked.Stored {
		row, rowErr := one.read()
		stored, err = append(stored, row), errors.Join(err, rowErr)
	}
	if err != nil {
		return nil, err
	}
	isWritten, removed, err := upload.Storing(stored, asked.Proven, asked.AllowsLowerSuite)
	if err != nil {
		return nil, err
	}
	return members{"write": isWritten, "remove": append([]string{}, removed...)}, nil
}

func receipt(asked *request) (members, error) {
	read, err := pushcrypt.ReadReceipt([]byte(asked.Body))
	if err != nil {
		return nil, err
	}
	given := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	outcome := read.Failure
	if outcome == "" {
		outcome = "opened"
	}
	return members{"receipt": members{
		"id": read.ID, "name": given(read.Name), "push": given(read.PushID), "outcome": outcome, "time": read.Time.Unix(),
		"kid": given(read.KeyID), "skid": given(read.SenderKeyID), "suppressed": read.IsSuppressed, "test": read.IsSelfTest,
	}}, nil
}

func blob(asked *request) (members, error) {
	if asked.Plaintext == nil {
		return nil, errUnsupported
	}
	plaintext, err := base64.RawURLEncoding.DecodeString(*asked.Plaintext)
	if err != nil {
		return nil, err
	}
	blob := pushcrypt.SealFile(plaintext)
	if asked.Purpose == "payload" {
		if blob, err = pushcrypt.SealPayload(plaintext); err != nil {
			return nil, err
		}
	}
	reference := blob.Reference("")
	return members{
		"blob":      base64.RawURLEncoding.EncodeToString(blob.Data),
		"reference": members{"key": reference.Key(), "size": reference.Size, "sha256": reference.SHA256},
	}, nil
}
