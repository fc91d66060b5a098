/// What APNs' answers mean.
extension RequestFaults {
    /// The reasons of "Handling notification responses from APNs".
    static let answers: [String: (cause: String, advice: String)] = [
        "BadDeviceToken": (
            "APNs doesn't know the device token. Usually a token of a development build was used with the production "
                + "server, or the other way round.",
            "Builds that Xcode runs have tokens for api.sandbox.push.apple.com; TestFlight and the App Store for "
                + "api.push.apple.com. Let the app upload its environment with the token, and send to that server."
        ),
        "BadEnvironmentKeyInToken": (
            "The key (.p8) that signs the provider token isn't allowed for this environment, development or "
                + "production.",
            "Create a key for both environments in the developer account, or use the key of this environment."
        ),
        "BadCertificateEnvironment": (
            "The certificate is for the other environment, development or production.",
            "Use the certificate, or better a key (.p8), of this environment."
        ),
        "DeviceTokenNotForTopic": (
            "The device token belongs to another app than apns-topic names.",
            "Send apns-topic with the bundle identifier of the app that uploaded this token, not of its extension."
        ),
        "BadTopic": ("APNs doesn't accept this apns-topic.", "Send the app's bundle identifier."),
        "TopicDisallowed": (
            "The key or certificate may not send to this topic.",
            "Use the key of the team that owns the app, and the app's bundle identifier as apns-topic."
        ),
        "MissingTopic": ("The request has no apns-topic.", "Send apns-topic with the app's bundle identifier."),
        "PayloadTooLarge": (
            "The payload has more than 4096 bytes.",
            "Seal a shorter payload: move long content to an attachment or an offloaded payload (docs/attachments.md)."
        ),
        "PayloadEmpty": ("The request has no body.", "Send the sealed payload as the body of the request."),
        "MissingDeviceToken": (
            "The path of the request has no device token.", "Use the path /3/device/TOKEN, in hexadecimal."
        ),
        "Unregistered": (
            "The app was deleted from the device, or it has a newer token.",
            "Delete this token. The app uploads its token again when it starts."
        ),
        "ExpiredToken": (
            "The device token has expired.", "Delete this token. The app uploads its token again when it starts."
        ),
        "InvalidPushType": ("APNs doesn't know this apns-push-type.", "Send apns-push-type: alert."),
        "BadCollapseId": ("The apns-collapse-id is longer than 64 bytes.", "Use a shorter id."),
        "BadExpirationDate": ("The apns-expiration isn't valid.", "Send seconds since 1970, or 0."),
        "BadPriority": ("The apns-priority isn't valid.", "Send apns-priority: 10."),
        "ExpiredProviderToken": (
            "The provider token is older than an hour, or the server's clock is wrong.",
            "Make a new token every 20 to 60 minutes, and check the clock of the server."
        ),
        "InvalidProviderToken": (
            "The provider token isn't valid: its key id, team id or signature is wrong.",
            "Check the key id (kid), the team id (iss) and the .p8 file."
        ),
        "MissingProviderToken": (
            "The request has neither a provider token nor a certificate.",
            "Send the header authorization: bearer TOKEN."
        ),
        "TooManyProviderTokenUpdates": (
            "The provider token is renewed too often.", "Make a new token every 20 to 60 minutes."
        ),
        "TooManyRequests": (
            "Too many pushes were sent to this device in a short time.", "Send fewer, and retry later."
        ),
        "BadCertificate": ("The certificate isn't valid.", "Use a valid certificate, or better a key (.p8)."),
        "BadMessageId": ("The apns-id isn't a UUID.", "Send a UUID with dashes, or no apns-id."),
        "BadPath": ("The path of the request isn't valid.", "Use the path /3/device/TOKEN."),
        "DuplicateHeaders": ("The request has a header twice.", "Send each header once."),
        "Forbidden": ("The provider may not send this push.", "Check the key (.p8) and the team that owns the app."),
        "IdleTimeout": ("The connection wasn't used for too long.", "Send the push again on a new connection."),
        "MethodNotAllowed": ("The method of the request isn't POST.", "Use POST."),
        "InternalServerError": ("APNs failed.", "Send the push again later."),
        "ServiceUnavailable": ("APNs isn't available.", "Send the push again later."),
        "Shutdown": ("APNs is restarting.", "Send the push again on a new connection."),
    ]
}
