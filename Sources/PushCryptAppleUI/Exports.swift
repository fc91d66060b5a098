// A content extension imports this module only.
@_exported public import PushCryptApple
