package pushcrypt

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxInteger = 1<<53 - 1
	maxDepth   = 64
)

// A value of strict JSON (PROTOCOL section 2) is nil, a bool, a string, a number, a []any or an *object.
type number string

type object struct {
	text    []byte
	members map[string]member
}

// member is a value with its place in the text.
type member struct {
	value      any
	start, end int
}

type parser struct {
	text   []byte
	at     int
	values int
	// isCompact refuses white space outside of strings.
	isCompact bool
}

// parse reads a text whose root must be an object.
func parse(text []byte, isCompact bool) *object {
	root, _ := parseCounting(text, isCompact)
	return root
}

// parseCounting also returns the number of values in the text, with the root.
func parseCounting(text []byte, isCompact bool) (*object, int) {
	p := &parser{text: text, isCompact: isCompact}
	require(utf8.Valid(text), "", "it isn't UTF-8")
	p.skip()
	root := asObject(p.value(1), "it")
	p.skip()
	p.require(p.at == len(text), "more than white space after the object")
	return root, p.values
}

func (p *parser) require(holds bool, what string) {
	require(holds, "", "there is %s at byte %d", what, p.at)
}

func (p *parser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.require(!p.isCompact, "white space")
		p.at++
	}
}

func (p *parser) takes(token string) bool {
	if !bytes.HasPrefix(p.text[p.at:], []byte(token)) {
		return false
	}
	p.at += len(token)
	return true
}

// closes moves behind the closing bracket, or to the next element.
func (p *parser) closes(bracket string, isFirst bool) bool {
	p.skip()
	if p.takes(bracket) {
		return true
	}
	p.require(isFirst || p.takes(","), "neither a comma nor a closing bracket")
	p.skip()
	return false
}

func (p *parser) value(depth int) any {
	p.values++
	switch {
	case p.takes(`"`):
		return p.string()
	case p.takes("null"):
		return nil
	case p.takes("true"):
		return true
	case p.takes("false"):
		return false
	case p.takes("{"):
		p.require(depth <= maxDepth, "an object that is nested too deep")
		return p.object(depth)
	case p.takes("["):
		p.require(depth <= maxDepth, "an array that is nested too deep")
		items := []any{}
		for !p.closes("]", len(items) == 0) {
			items = append(items, p.value(depth+1))
		}
		return items
	}
	return p.number()
}

func (p *parser) object(depth int) *object {
	found := &object{p.text, map[string]member{}}
	for !p.closes("}", len(found.members) == 0) {
		p.require(p.takes(`"`), "no name of a member")
		name := p.string()
		p.require(!found.has(name), "a second member of one name")
		p.skip()
		p.require(p.takes(":"), "no colon")
		p.skip()
		start := p.at
		value := p.value(depth + 1)
		found.members[name] = member{value, start, p.at}
	}
	return found
}

// number is "-"? ("0" | [1-9][0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?, RFC 8259 section 6.
func (p *parser) number() number {
	start := p.at
	p.takes("-")
	if !p.takes("0") {
		p.digits("JSON value")
	}
	if p.takes(".") {
		p.digits("digit")
	}
	if p.takes("e") || p.takes("E") {
		if !p.takes("+") {
			p.takes("-")
		}
		p.digits("digit")
	}
	return number(p.text[start:p.at])
}

func (p *parser) digits(what string) {
	start := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	p.require(p.at > start, "no "+what)
}

// string reads the characters of a string and its closing quote.
func (p *parser) string() string {
	var found []byte
	for start := p.at; ; p.at++ {
		p.require(p.at < len(p.text), "no end of a string")
		switch c := p.text[p.at]; {
		case c == '"':
			found = append(found, p.text[start:p.at]...)
			p.at++
			return string(found)
		case c == '\\':
			found = append(found, p.text[start:p.at]...)
			p.at++
			found = utf8.AppendRune(found, p.escaped())
			start = p.at
			p.at--
		default:
			p.require(c >= ' ', "a control character in a string")
		}
	}
}

func (p *parser) escaped() rune {
	if p.takes("u") {
		unit := p.unit()
		if utf16.IsSurrogate(unit) {
			p.require(p.takes(`\u`), "a lone surrogate")
			unit = utf16.DecodeRune(unit, p.unit())
			p.require(unit != utf8.RuneError, "a lone surrogate")
		}
		return unit
	}
	p.require(p.at < len(p.text), "no end of a string")
	escape := strings.IndexByte(`"\/bfnrt`, p.text[p.at])
	p.require(escape >= 0, "an unknown escape")
	p.at++
	return rune("\"\\/\b\f\n\r\t"[escape])
}

func (p *parser) unit() rune {
	p.at += 4
	require(p.at <= len(p.text), "", "there is no end of a string")
	unit, err := strconv.ParseUint(string(p.text[p.at-4:p.at]), 16, 16)
	p.require(err == nil, "no hexadecimal escape")
	return rune(unit)
}

func asObject(value any, name string) *object {
	found, ok := value.(*object)
	require(ok, "", "%s isn't an object", name)
	return found
}

var integerForm = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)

// integerOf reads a number without fraction and exponent, which isn't -0.
func integerOf(value any) (int64, bool) {
	text, _ := value.(number)
	if !integerForm.MatchString(string(text)) {
		return 0, false
	}
	found, err := strconv.ParseInt(string(text), 10, 64)
	return found, err == nil
}

func isInteger(value any, lowest, highest int64) bool {
	found, ok := integerOf(value)
	return ok && lowest <= found && found <= highest
}

// isNumber says whether it is a number that a double has, in the range.
func isNumber(value any, lowest, highest float64) bool {
	text, ok := value.(number)
	found, err := strconv.ParseFloat(string(text), 64)
	return ok && err == nil && lowest <= found && found <= highest
}

func isFinite(value any) bool { return isNumber(value, -math.MaxFloat64, math.MaxFloat64) }

func (o *object) has(name string) bool { _, found := o.members[name]; return found }

func (o *object) get(name string) any { return o.members[name].value }

// raw returns the text of a member's value.
func (o *object) raw(name string) []byte { return o.text[o.members[name].start:o.members[name].end] }

// end returns the place behind the last member's value, in an object that isn't empty.
func (o *object) end() (end int) {
	for _, member := range o.members {
		end = max(end, member.end)
	}
	return end
}

func (o *object) object(name string) *object { return asObject(o.get(name), name) }

func (o *object) string(name string) string {
	found, ok := o.get(name).(string)
	require(ok, "", "%s isn't a string", name)
	return found
}

func (o *object) integer(name string, lowest, highest int64) int64 {
	found, ok := integerOf(o.get(name))
	require(ok && lowest <= found && found <= highest, "", "%s isn't an integer of %d to %d", name, lowest, highest)
	return found
}

func (o *object) list(name string, fewest, most int) []any {
	found, ok := o.get(name).([]any)
	require(ok && fewest <= len(found) && len(found) <= most, "", "%s isn't an array of %d to %d elements", name, fewest, most)
	return found
}

func (o *object) bytes(name string, size int) []byte { return unbase64(o.get(name), size, name) }

// isOneOf says whether the value is one of the texts.
func isOneOf(value any, texts ...string) bool {
	text, ok := value.(string)
	return ok && slices.Contains(texts, text)
}

// write returns compact JSON, in which characters beyond ASCII stay as they are.
func write(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(&Error{Reason: "encoding/json can't write it", cause: err})
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
