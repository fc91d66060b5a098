@_exported public import PushCryptExtension
