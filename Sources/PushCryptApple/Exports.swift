// An extension's file needs one import.
@_exported public import PushCryptExtension
