import PushCryptApple

/// Opens the payload of a push that the app receives itself, such as PushKit's `dictionaryPayload`.
nonisolated func opened(_ payload: [AnyHashable: Any]) throws -> [AnyHashable: Any] {
    let opener = try sharedConfiguration(appGroup()).opener
    return UserInfoJSON.dictionary(try opener.open(UserInfoJSON.json(payload), at: .now).get().payload)
}
