// Users of this library need keys, times, placeholders, keysets and passphrases without a second import.
@_exported public import PushCryptCore
@_exported public import PushCryptKeysets

@_exported public import class PushCryptPrimitives.SecretBytes
