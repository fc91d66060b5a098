@_exported public import PushCryptNotifications
