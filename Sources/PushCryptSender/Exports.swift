// A user of this library names keys, times and placeholders, loads keysets and hands over passphrases without a second
// import.
@_exported public import PushCryptCore
@_exported public import PushCryptKeysets

@_exported public import class PushCryptPrimitives.SecretBytes
