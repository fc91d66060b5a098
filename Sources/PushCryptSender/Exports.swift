// A user of this library names keys, times and placeholders without a second import.
@_exported public import PushCryptCore
