package pushcrypt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxPayload, maxValues = 262_144, 16_384 // bytes, JSON values

// payload is an inner payload: strict JSON with a text for the user (PROTOCOL sections 2 and 5).
type payload struct {
	root, aps *object
}

// readPayload reads a payload to seal: bytes and texts unchanged, and any other value as encoding/json writes it. Spaces behind it
// don't count.
func readPayload(value any) (inner payload, err error) {
	defer catch(&err, "invalidPayload", "the payload")
	var text []byte
	switch value := value.(type) {
	case []byte:
		text = value
	case json.RawMessage:
		text = value
	case string:
		text = []byte(value)
	default:
		text = write(value)
	}
	text = bytes.TrimRight(text, " ")
	require(len(text) <= maxPayload, "", "it has more than 262,144 bytes")
	root := parse(text)
	require(root.values <= maxValues, "", "it has more than 16,384 JSON values")
	aps := root.object("aps")
	require(hasText(aps.get("alert")), "", "its aps has no alert with a text that a person can see")
	require(!root.has("pushcrypt"), "", "it already has a pushcrypt member")
	isActivity := aps.get("content-state") != nil || aps.get("attributes") != nil || aps.get("attributes-type") != nil
	isActivity = isActivity || isOneOf(aps.get("event"), "start", "update", "end")
	require(!isActivity, "", "it is that of a Live Activity, for which iOS runs no extension: send it without private content")
	return payload{root, aps}, nil
}

// message adds the header as the last member of the root, and changes no other byte.
func (p payload) message(header []byte) []byte {
	end := 0
	for _, member := range p.root.members {
		end = max(end, member.end)
	}
	return join(p.root.text[:end], []byte(`,"pushcrypt":`), header, p.root.text[end:])
}

// hasText says whether an alert is a visible string, or an object with a visible text or key of a text.
func hasText(alert any) bool {
	members, ok := alert.(*object)
	isSeen := func(name string) bool { return isVisible(members.get(name)) }
	return isVisible(alert) || ok && slices.ContainsFunc([]string{"title", "subtitle", "body", "loc-key", "title-loc-key"}, isSeen)
}

// invisible has the ranges of "Visible text" (section 2), without the last two code points of each plane.
var invisible = [][2]rune{
	{0x0000, 0x0020}, {0x007F, 0x00A0}, {0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160}, {0x1680, 0x1680},
	{0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800}, {0x3000, 0x3000},
	{0x3164, 0x3164}, {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFC}, {0x13430, 0x1343F},
	{0x16FE4, 0x16FE4}, {0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
}

func isVisible(value any) bool {
	text, _ := value.(string)
	return strings.ContainsFunc(text, func(point rune) bool {
		isHidden := func(hidden [2]rune) bool { return hidden[0] <= point && point <= hidden[1] }
		return point&0xFFFE != 0xFFFE && !slices.ContainsFunc(invisible, isHidden)
	})
}

// Placeholder is the unencrypted text, which the device shows if it can't open the push. APNs can read all of it. Title, Subtitle
// and Body are literal. The keys are those of the app's strings, which the device localises with the arguments. One of Title,
// Subtitle, Body, TitleLocKey and LocKey must have a character that a person can see.
type Placeholder struct {
	Title           string   `json:"title,omitempty"`
	Subtitle        string   `json:"subtitle,omitempty"`
	Body            string   `json:"body,omitempty"`
	TitleLocKey     string   `json:"title-loc-key,omitempty"`
	TitleLocArgs    []string `json:"title-loc-args,omitempty"`
	SubtitleLocKey  string   `json:"subtitle-loc-key,omitempty"`
	SubtitleLocArgs []string `json:"subtitle-loc-args,omitempty"`
	LocKey          string   `json:"loc-key,omitempty"`
	LocArgs         []string `json:"loc-args,omitempty"`
	LaunchImage     string   `json:"launch-image,omitempty"`
}

// alert returns the JSON of the outer alert.
func (p Placeholder) alert() []byte {
	texts := []string{p.Title, p.Subtitle, p.Body, p.TitleLocKey, p.SubtitleLocKey, p.LocKey, p.LaunchImage}
	for _, part := range [][]string{texts, p.TitleLocArgs, p.SubtitleLocArgs, p.LocArgs} {
		isWrong := func(text string) bool { return !utf8.ValidString(text) }
		require(!slices.ContainsFunc(part, isWrong), "invalidPlaceholder", "the placeholder isn't UTF-8")
	}
	isSeen := isVisible(p.Title) || isVisible(p.Subtitle) || isVisible(p.Body) || isVisible(p.TitleLocKey) || isVisible(p.LocKey)
	require(isSeen, "invalidPlaceholder", "it has no text that a person can see, so iOS wouldn't run the app's extension")
	return write(&p)
}
