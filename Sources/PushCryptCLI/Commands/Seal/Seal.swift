import ArgumentParser
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender

struct Seal: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Seal an APNs payload: inner payload JSON on stdin or in FILE, outer payload JSON on stdout.",
        discussion: """
            The inner payload is sealed byte for byte. The newline after the outer payload is not part of it.

            With --batch or --stream, each line of stdin is {"payload": INNER PAYLOAD, "to"?: JWK or KID, "device"?: ID, \
            "placeholder"?: ALERT, "expires"?: DURATION, "expose"?: [NAMES], \
            "campaign"?: NAME, "retract"?: [IDS], "quiet"?: BOOLEAN, "badgeAdd"?: N, "carrier"?: NAME}. \
            Other members stay unchanged, but a line is refused if the name of a member is nearly that of one of these \
            that it lacks ("expire"). A JWK in "to" is a recipient's public key, registration record or shared key; \
            a KID is looked up in --recipients; a line without "to" is sealed to --to. With a shared key, \
            "device" selects the device's own key, and a line without it is refused unless --bare is given; with any other \
            key it is only a name from which the ids of campaigns are made. "campaign" replaces --id-from. \
            ALERT is an object of Apple's alert keys: title, subtitle, body, launch-image, \
            title-loc-key, title-loc-args, subtitle-loc-key, subtitle-loc-args, loc-key and loc-args. \
            The options apply to everything that a line doesn't set; "retract" is added to --retract and --retract-from. \
            A line on stdout is the line of stdin with the outer payload, its "to" as a kid, and "pushcrypt": {"line", "id", \
            "expiresAt", "notes"?}; "notes" are texts about parts of the payload that a device ignores.

            \(BatchOptions.discussion)

            The id of a push, for --retract, is the "id" that --batch writes; --show-id shows it too. --retract, --retract-from, --quiet, --badge-add and an \
            attachment that blob seal made with --use avatar need --sign-with, or a recipient with a psk or a shared key.

            Example: pushcrypt seal --to record.json --topic com.example.app --sign-with Keys/backend < payload.json
            """)

    @OptionGroup var input: PayloadInput
    @Option(help: .init("The recipient: public key, registration record or shared key.", "FILE|Keys/NAME"))
    var to: String?
    @Option(name: .customLong("topic"), help: .init("The app's bundle identifier. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(parsing: .unconditional, help: .init("Seal to this device's key of a shared keyset.", "ID"))
    var device: String?
    @Flag(help: "Seal to a shared key itself: everyone who has it, such as every device of a group, opens the push.")
    var bare = false
    @Flag(
        help: """
            Refuse a recipient without a secret: a public key that has no psk. Use it if your app uploads a psk: a record that \
            lost its psk is sealed to otherwise, and the device can't open the push.
            """)
    var requirePSK = false
    @Option(
        help: .init(
            """
            Refuse a recipient whose suite ranks below this one. xwing demands a key that resists quantum computers: xwing or \
            a shared key. The other suites are equal, so that p256 and x25519 refuse none.
            """, "p256|x25519|xwing"))
    var minimumSuite: KeyPairType?
    @Flag(
        name: .customLong("allow-lower-suite"),
        help: "Seal to the newest key of a set although its suite ranks below that of an older key.")
    var allowsLowerSuite = false
    @Flag(help: "Refuse devices with day keys that have none for today, in place of the key of their record.")
    var requireDayKey = false
    @Option(help: .init("Sign with the primary key of this keyset.", "FILE|Keys/NAME")) var signWith: String?
    @OptionGroup(title: "Placeholder") var placeholder: PlaceholderOptions
    @OptionGroup(title: "Attachments and self-test") var extras: ExtrasOptions
    @OptionGroup(title: "Instructions to the device") var instructions: InstructionOptions
    @Option(help: .init("Pad to a multiple of N bytes, to the limit, or not at all.", "N|max|none"))
    var pad: PaddingPolicy = .multiple(of: 128)
    @Option(
        help: .init(
            "How long devices show the message. (default: 30d, or the flight of a device with day keys)", "DURATION"))
    var expires: DurationArgument?
    @Option(
        help: .init("The maximum size of the outer payload in bytes. (default: 4096 less what --carrier adds)", "N"))
    var limit: Int?
    @Option(help: .init("The way to the device, which the app must name too.", CarrierOptions.names))
    var carrier: Carrier = .apns
    @Option(help: .init("The apns-collapse-id, which everyone on the way can read.", "ID")) var collapseID: String?
    @Flag(
        help: """
            Print the request to the carrier's service, without the device's address and credentials. With --batch or --stream, \
            "pushcrypt" of the line has it as "request", and the push's name in receipts as "receipt".
            """)
    var request = false

    @Option(
        help: .init("The members of aps to copy to the visible payload, separated by commas; each must exist.", "LIST"))
    var expose: String?

    @Option(
        help: .init(
            "Derive the message's id from this name and the recipient, so that a device shows one push of a campaign "
                + "however often it is sealed.", "CAMPAIGN"))
    var idFrom: String?

    @Flag(help: "Write the message's id to stderr.") var showID = false
    @OptionGroup(title: "Batch") var batch: BatchOptions

    @Option(
        help: .init(
            "With --batch or --stream: the recipient directory in which the kids in \"to\" are looked up; see pushcrypt recipients.",
            "FILE"))
    var recipients: String?

    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    var topic: String { givenTopic ?? Defaults.topic ?? "" }

    func validate() throws {
        try Defaults.requireTopic(givenTopic)
        guard batch.isOn || to != nil else {
            throw ValidationError("Missing expected argument '--to <FILE|Keys/NAME>'")
        }
        guard batch.isOn || recipients == nil else {
            throw ValidationError("--recipients is only for --batch and --stream.")
        }
        guard !batch.isOn || device == nil else {
            throw ValidationError("--device can't be used with \(batch.name): each line has a member \"device\".")
        }
        guard !bare || device == nil else {
            throw ValidationError("--bare and --device can't be combined: a device has a key of its own.")
        }
        guard !batch.isOn || !showID else {
            throw ValidationError("--show-id can't be used with \(batch.name): each line on stdout has its id.")
        }
    }

    var keyAccess: KeyAccess {
        KeyAccess(
            secrets: secrets, keystore: keystore, allowsDemoKeys: demoKeys.isAllowed,
            confirmsClock: clock.isConfirmed, allowsLowerSuite: allowsLowerSuite)
    }

    func run() throws {
        if Topic.looksLikeExtension(topic) {
            StandardStreams.writeNote(
                "the topic \(topic) looks like the bundle identifier of an extension: the push opens only if it is the app's"
            )
        }
        try instructions.check()
        if let to, !batch.isOn { try sealOne(to) } else { try sealBatch() }
    }

    var options: Sealer.Options {
        var options = Sealer.Options(
            padding: pad, limitInBytes: limit, carrier: carrier, campaign: idFrom, collapseID: collapseID)
        options.exposed = expose?.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init) ?? []
        if let expires { options.expiresAfter = .seconds(expires.seconds) }
        options.retractedIDs = instructions.retract
        options.isQuiet = instructions.quiet
        options.badgeIncrement = instructions.badgeAdd
        options.minimumSuite = minimumSuite.map(Suite.init)
        options.requiresDayKey = requireDayKey
        return options
    }

    /// Checks the recipient of --to before the payloads are read.
    func checkRecipient(_ recipient: Recipient, of path: String) throws {
        try KeySource.naming(path) {
            if requirePSK { try recipient.requirePSK() }
            if let minimumSuite { try recipient.requireSuite(atLeast: Suite(minimumSuite)) }
        }
    }

    private func sealOne(_ to: String) throws {
        let time = timeOptions.time
        let topic = try Topic(option: topic).description
        let source = try KeySource(to, keyAccess, allowsPublic: signWith != nil)
        let recipient = try source.recipient(device: DeviceID(option: device), at: time)
        guard bare || !recipient.isBareSharedKey else {
            throw Failure(
                .usage,
                "\(to) is a shared key, and everyone who has it could open the push: give the device (--device ID), or "
                    + "--bare if that is meant")
        }
        try checkRecipient(recipient, of: to)
        let signer = try signWith.map { path in try KeySource(path, keyAccess).senderKey(at: time) }
        let sealer = try Sealer(
            topic: topic, signer: signer.map(Signer.key), placeholder: placeholder.placeholder, options: options,
            clock: { time })
        let payload = try input.readPayload(
            limit: Self.inputLimitInBytes, or: "; the limit of a payload is \(limit ?? 4096)")
        let sealed = try advising {
            try sealer.seal(
                payload, to: recipient, attachments: extras.attachments(), offload: extras.offloadReference(),
                isSelfTest: extras.selfTest
            ) {
                try $0.retract(campaigns: instructions.retractFrom, of: recipient)
            }
        }
        for note in sealed.notes { StandardStreams.writeNote(note) }
        if !recipient.hasSecret, source.keyset.entries.contains(where: \.record.hasPSK) {
            StandardStreams.writeNote(
                "key \(recipient.kid) of \(to) has no psk, and another key has one: if the key lost its psk, the device can't "
                    + "open the push; --require-psk refuses such a key")
        }
        if showID { StandardStreams.writeNote("id \(sealed.id)") }
        try StandardStreams.writeLine(request ? sealed.request : sealed.bytes)
    }

    private func advising(_ seal: () throws -> SealedPush) throws -> SealedPush {
        do { return try seal() } catch let error as SenderError where error.code == .tooLarge {
            let advice =
                error.bytesWithoutEscapes != nil
                ? "write characters as UTF-8 (in Python: json.dumps(…, ensure_ascii=False))"
                : extras.offload == nil
                    ? "encrypt it as a file on your server, with `pushcrypt blob seal --purpose payload --url URL --reference "
                        + "long.json --output long.blob < payload.json`, upload long.blob to that https URL, and then seal a short "
                        + "payload, such as its title, with --offload long.json, the secret that opens long.blob"
                    : "shorten this payload: the whole one is in the blob of --offload"
            throw Failure(.dataError, "\(error.reason); \(advice)")
        } catch let error as SenderError where error.code == .invalidPayload && input.path != "-" {
            throw Failure(.dataError, "\(input.path): \(error.reason)")
        }
    }

    /// Far above the limit of a payload, so that the error can name the size of a payload that is too long.
    private static let inputLimitInBytes = 1 << 20
}

struct ExtrasOptions: ParsableArguments {
    @Option(help: .init("The reference of an attachment, from blob seal; may be repeated up to 8 times.", "FILE"))
    var attach: [String] = []
    @Option(help: .init("The reference of a payload that replaces this one, from blob seal --purpose payload.", "FILE"))
    var offload: String?
    @Flag(help: "Make the extension report that it works.") var selfTest = false

    func attachments() throws -> [AttachmentReference] {
        try attach.map { path in try AttachmentReference(file: path) }
    }

    func offloadReference() throws -> OffloadReference? { try offload.map { path in try OffloadReference(file: path) } }
}

struct InstructionOptions: ParsableArguments {
    // An id may begin with a minus sign, like a number.
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Take back the push with this id; may be repeated up to 16 times.", "ID"))
    var retract: [String] = []
    @Option(
        help: .init("Take back the push that --id-from made for this campaign; may be repeated.", "CAMPAIGN"))
    var retractFrom: [String] = []
    @Flag(help: "Don't show the push where the app may suppress notifications; show it passively elsewhere.")
    var quiet = false
    @Option(parsing: .unconditional, help: .init("Add this number to the app's badge: -999 to 999.", "N"))
    var badgeAdd: Int?

    /// - Throws: `Failure` for a value that no push can have.
    func check() throws {
        guard retract.allSatisfy(MessageHeader.isID) else {
            throw Failure(
                .usage,
                "--retract takes the id of a push, 22 characters of base64url; `pushcrypt seal --show-id` prints it")
        }
    }
}

extension Sealer.Options {
    /// Adds ids to those that are taken back; an id that is already there is not added again.
    mutating func retract(_ ids: [String]) { retractedIDs += ids.filter { !retractedIDs.contains($0) } }

    /// Adds the ids of these campaigns' pushes to `recipient` to those that the push takes back.
    mutating func retract(campaigns: [String], of recipient: Recipient) throws(SenderError) {
        for campaign in campaigns { retract([try recipient.messageID(ofCampaign: campaign)]) }
    }
}

struct PlaceholderOptions: ParsableArguments {
    @Option(help: .init("The placeholder's title. (default: New message)", "T")) var placeholderTitle: String?
    @Option(help: .init("The placeholder's body. (default: Open the app to read it)", "B")) var placeholderBody: String?
    @Option(help: .init("The title's key in the app's Localizable.strings.", "K")) var placeholderTitleLocKey: String?
    @Option(help: .init("The body's key in the app's Localizable.strings.", "K")) var placeholderBodyLocKey: String?

    /// The given placeholder; the standard one if no part of it is given.
    var placeholder: Placeholder {
        let given = Placeholder(
            title: placeholderTitle, body: placeholderBody, titleLocKey: placeholderTitleLocKey,
            bodyLocKey: placeholderBodyLocKey)
        return given == Placeholder() ? .standard : given
    }
}
