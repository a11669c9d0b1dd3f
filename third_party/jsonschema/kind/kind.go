// Package kind has the kinds of errors that a value may have. They are plain structs without a String
// method: mcp-go prints them by the names of their fields.
package kind

import (
	"fmt"
	"strings"
)

// Group holds causes.
type Group struct{}

// Type: the value is of another type.
type Type struct {
	Got  string
	Want []string
}

// Required: properties are missing.
type Required struct{ Missing []string }

// AdditionalProperties: there are properties that the schema does not admit.
type AdditionalProperties struct{ Properties []string }

// Enum: the value is none of a closed set.
type Enum struct {
	Got  any
	Want []any
}

// Const: the value is not the one that it must be.
type Const struct{ Got, Want any }

// Minimum, Maximum, ExclusiveMinimum and ExclusiveMaximum: a number is out of bounds.
type (
	Minimum          struct{ Got, Want float64 }
	Maximum          struct{ Got, Want float64 }
	ExclusiveMinimum struct{ Got, Want float64 }
	ExclusiveMaximum struct{ Got, Want float64 }
)

// MinLength and MaxLength: a text has too few or too many characters.
type (
	MinLength struct{ Got, Want int }
	MaxLength struct{ Got, Want int }
)

// MinItems and MaxItems: an array has too few or too many items.
type (
	MinItems struct{ Got, Want int }
	MaxItems struct{ Got, Want int }
)

// MinProperties and MaxProperties: an object has too few or too many properties.
type (
	MinProperties struct{ Got, Want int }
	MaxProperties struct{ Got, Want int }
)

// Pattern: a text does not match the regular expression.
type Pattern struct{ Got, Want string }

// Other: what is wrong, in words.
type Other struct{ Message string }

func (Group) Words() string   { return "several things are wrong" }
func (k Other) Words() string { return k.Message }
func (k Type) Words() string {
	return fmt.Sprintf("got %s, want %s", k.Got, strings.Join(k.Want, " or "))
}
func (k Required) Words() string { return "missing properties " + quoted(k.Missing) }
func (k AdditionalProperties) Words() string {
	return "additional properties " + quoted(k.Properties) + " not allowed"
}
func (k Enum) Words() string             { return fmt.Sprintf("%v is none of %v", k.Got, k.Want) }
func (k Const) Words() string            { return fmt.Sprintf("%v is not %v", k.Got, k.Want) }
func (k Minimum) Words() string          { return fmt.Sprintf("%v is less than %v", k.Got, k.Want) }
func (k Maximum) Words() string          { return fmt.Sprintf("%v is more than %v", k.Got, k.Want) }
func (k ExclusiveMinimum) Words() string { return fmt.Sprintf("%v is not more than %v", k.Got, k.Want) }
func (k ExclusiveMaximum) Words() string { return fmt.Sprintf("%v is not less than %v", k.Got, k.Want) }
func (k MinLength) Words() string        { return few("characters", k.Got, k.Want) }
func (k MaxLength) Words() string        { return many("characters", k.Got, k.Want) }
func (k MinItems) Words() string         { return few("items", k.Got, k.Want) }
func (k MaxItems) Words() string         { return many("items", k.Got, k.Want) }
func (k MinProperties) Words() string    { return few("properties", k.Got, k.Want) }
func (k MaxProperties) Words() string    { return many("properties", k.Got, k.Want) }
func (k Pattern) Words() string          { return fmt.Sprintf("%q does not match %q", k.Got, k.Want) }

func few(what string, got, want int) string {
	return fmt.Sprintf("%d %s, at least %d are needed", got, what, want)
}

func many(what string, got, want int) string {
	return fmt.Sprintf("%d %s, at most %d are allowed", got, what, want)
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(all, ", ")
}
