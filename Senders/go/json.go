package pushcrypt

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const maxInteger, maxDepth = 1<<53 - 1, 64

var (
	numberForm  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	integerForm = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)
)

// number is the text of a number. The values of strict JSON (PROTOCOL section 2) are nil, bool, string, number, []any and *object.
type number string

// object has, if it is a root, the number of values in the text.
type object struct {
	text    []byte
	members map[string]member
	values  int
}

// member is a value with its place in the text.
type member struct {
	value      any
	start, end int
}

// parser is at a byte of a text, behind a number of values. isCompact refuses white space outside of strings.
type parser struct {
	text       []byte
	at, values int
	isCompact  bool
}

// parse reads a text whose root must be an object.
func parse(text []byte, isCompact bool) *object {
	p := &parser{text: text, isCompact: isCompact}
	require(utf8.Valid(text), "", "it isn't UTF-8")
	p.skip()
	root := as[*object](p.value(1), "it")
	p.skip()
	p.require(p.at == len(text), "more than white space after the object")
	root.values = p.values
	return root
}

func (p *parser) require(holds bool, what string) {
	if !holds {
		require(false, "", "there is %s at byte %d", what, p.at)
	}
}

func (p *parser) skip() {
	for ; p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0; p.at++ {
		p.require(!p.isCompact, "white space")
	}
}

func (p *parser) takes(token string) bool {
	isNext := bytes.HasPrefix(p.text[p.at:], []byte(token))
	if isNext {
		p.at += len(token)
	}
	return isNext
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
	case p.takes("null"):
		return nil
	case p.takes("true"):
		return true
	case p.takes("false"):
		return false
	}
	rest := p.text[p.at:]
	found := rest[:len(rest)-len(bytes.TrimLeft(rest, "+-.0123456789eE"))]
	p.require(numberForm.Match(found), "no JSON value")
	p.at += len(found)
	return number(found)
}

func (p *parser) object(depth int) *object {
	found := &object{text: p.text, members: map[string]member{}}
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

// string reads the characters of a string and its closing quote.
func (p *parser) string() string {
	var found strings.Builder
	for {
		start := p.at
		for p.at < len(p.text) && p.text[p.at] >= ' ' && p.text[p.at] != '"' && p.text[p.at] != '\\' {
			p.at++
		}
		found.Write(p.text[start:p.at])
		p.require(p.at < len(p.text) && p.text[p.at] >= ' ', "a control character or the end in a string")
		p.at++
		if p.text[p.at-1] == '"' {
			return found.String()
		}
		found.WriteRune(p.escaped())
	}
}

func (p *parser) escaped() rune {
	if !p.takes("u") {
		p.require(p.at < len(p.text) && strings.IndexByte(`"\/bfnrt`, p.text[p.at]) >= 0, "an unknown escape")
		p.at++
		return rune("\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, p.text[p.at-1])])
	}
	unit := p.unit()
	if utf16.IsSurrogate(unit) {
		p.require(p.takes(`\u`), "a lone surrogate")
		unit = utf16.DecodeRune(unit, p.unit())
		p.require(unit != utf8.RuneError, "a lone surrogate")
	}
	return unit
}

// unit reads four hexadecimal digits.
func (p *parser) unit() rune {
	digits := p.text[p.at:min(p.at+4, len(p.text))]
	unit, err := strconv.ParseUint(string(digits), 16, 16)
	p.require(err == nil && len(digits) == 4, "no escape of four digits")
	p.at += 4
	return rune(unit)
}

// as refuses a value of another type.
func as[T any](value any, name string) T {
	found, isRight := value.(T)
	require(isRight, "", "%s is missing, or of another type", name)
	return found
}

// isInteger says whether it is a number in the range, without fraction and exponent, and not -0.
func isInteger(value any, lowest, highest int64) bool {
	text, _ := value.(number)
	found, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && integerForm.MatchString(string(text)) && lowest <= found && found <= highest
}

// isNumber says whether it is a number in the range that a double has.
func isNumber(value any, lowest, highest float64) bool {
	text, _ := value.(number)
	found, err := strconv.ParseFloat(string(text), 64)
	return err == nil && lowest <= found && found <= highest
}

func isString(value any) bool { _, ok := value.(string); return ok }

func isOneOf(value any, texts ...string) bool {
	return isString(value) && slices.Contains(texts, value.(string))
}

func (o *object) has(name string) bool               { _, found := o.members[name]; return found }
func (o *object) get(name string) any                { return o.members[name].value }
func (o *object) object(name string) *object         { return as[*object](o.get(name), name) }
func (o *object) string(name string) string          { return as[string](o.get(name), name) }
func (o *object) bytes(name string, size int) []byte { return unbase64(o.get(name), size, name) }
func (o *object) time(name string) int64             { return readTime(o.get(name), name) }

// membersOf returns none if there is no such object.
func (o *object) membersOf(name string) map[string]member {
	if found, isThere := o.get(name).(*object); isThere {
		return found.members
	}
	return nil
}

// raw returns the text of a member's value.
func (o *object) raw(name string) []byte { return o.text[o.members[name].start:o.members[name].end] }

func (o *object) integer(name string, lowest, highest int64) int64 {
	require(isInteger(o.get(name), lowest, highest), "", "%s isn't an integer of %d to %d", name, lowest, highest)
	return must(strconv.ParseInt(string(o.get(name).(number)), 10, 64))
}

func (o *object) list(name string, fewest, most int) []any {
	found := as[[]any](o.get(name), name)
	require(fewest <= len(found) && len(found) <= most, "", "%s hasn't %d to %d elements", name, fewest, most)
	return found
}

// write returns compact JSON, in which characters beyond ASCII stay as they are.
func write(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require(encoder.Encode(value) == nil, "", "encoding/json can't write it")
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
