// An extension imports this module only.
@_exported public import PushCryptExtension
