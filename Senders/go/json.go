package pushcrypt

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxInteger, maxDepth = 1<<53 - 1, 64

var (
	integerForm = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)
	// escapeForm matches each escape of a string. It has a group if that is a lone surrogate.
	escapeForm = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)`)
)

var literals = map[string]any{"null": nil, "true": true, "false": false}

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

// reader is at a byte of a text, behind a number of values. The strings that it reads are parts of text.
type reader struct {
	bytes      []byte
	text       string
	at, values int
}

// parse reads a text whose root must be an object. encoding/json finds whether it is JSON, and never what it says: it takes the last of
// two members of one name, and replaces lone surrogates.
func parse(text []byte) *object {
	require(utf8.Valid(text), "", "it isn't UTF-8")
	if !json.Valid(text) {
		var wrong *json.SyntaxError
		errors.As(json.Unmarshal(text, new(any)), &wrong)
		require(false, "", "it isn't JSON at byte %d", wrong.Offset)
	}
	r := &reader{bytes: text, text: string(text)}
	require(r.next() == '{', "", "it isn't an object")
	root := r.value(1).(*object)
	root.values = r.values
	return root
}

// next moves to the next value or bracket. In JSON, only white space, a comma or a colon is before one.
func (r *reader) next() byte {
	for strings.IndexByte(" \t\r\n,:", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[r.at]
}

func (r *reader) value(depth int) any {
	r.values++
	switch bracket := r.next(); bracket {
	case '"':
		return r.string()
	case '{', '[':
		require(depth <= maxDepth, "", "it has more than 64 nested arrays and objects")
		r.at++
		if bracket == '{' {
			return r.object(depth)
		}
		items := []any{}
		for r.next() != ']' {
			items = append(items, r.value(depth+1))
		}
		r.at++
		return items
	}
	start := r.at
	for strings.IndexByte(" \t\r\n,]}", r.text[r.at]) < 0 {
		r.at++
	}
	text := r.text[start:r.at]
	if literal, isLiteral := literals[text]; isLiteral {
		return literal
	}
	return number(text)
}

func (r *reader) object(depth int) *object {
	found := &object{text: r.bytes, members: map[string]member{}}
	for r.next() != '}' {
		name := r.string()
		if found.has(name) {
			require(false, "", "there is a second member of one name at byte %d", r.at)
		}
		r.next()
		start := r.at
		value := r.value(depth + 1)
		found.members[name] = member{value, start, r.at}
	}
	r.at++
	return found
}

func (r *reader) string() (text string) {
	start, end := r.at, r.at+1+strings.IndexByte(r.text[r.at+1:], '"')
	if strings.IndexByte(r.text[start:end], '\\') < 0 {
		r.at = end + 1
		return r.text[start+1 : end]
	}
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	quoted := r.text[start:r.at]
	for _, match := range escapeForm.FindAllStringSubmatchIndex(quoted, -1) {
		require(match[2] < 0, "", "there is a lone surrogate in the string at byte %d", start)
	}
	require(json.Unmarshal([]byte(quoted), &text) == nil, "", "there is no string at byte %d", start)
	return text
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

// raw returns the text of a member's value.
func (o *object) raw(name string) []byte { return o.text[o.members[name].start:o.members[name].end] }

func (o *object) integer(name string, lowest, highest int64) int64 {
	require(isInteger(o.get(name), lowest, highest), "", "%s isn't an integer of %d to %d", name, lowest, highest)
	return must(strconv.ParseInt(string(o.get(name).(number)), 10, 64))
}

// write returns compact JSON, in which characters beyond ASCII stay as they are.
func write(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	require(encoder.Encode(value) == nil, "", "encoding/json can't write it")
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
