/// The actions of a kind of notification: `UNNotificationCategory`.
public struct NotificationCategory: Hashable, Sendable {
    /// The name, which a payload names in `aps.category`.
    public var id: String
    /// The actions, in the order in which they are shown: 10 at most, and 2 in a small space.
    public var actions: [NotificationAction]
    /// What is shown in place of the body if the user has hidden previews; nil for the system's own text.
    public var hiddenPreviewsBodyPlaceholder: String?
    /// Further settings.
    public var options: Options

    /// Creates a category.
    public init(
        id: String, actions: [NotificationAction] = [], hiddenPreviewsBodyPlaceholder: String? = nil,
        options: Options = []
    ) {
        self.id = id
        self.actions = actions
        self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder
        self.options = options
    }

    /// The settings of a category: `UNNotificationCategoryOptions`.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Creates options from bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The app learns that the user has dismissed a notification.
        public static let customDismissAction = Options(rawValue: 1 << 0)
        /// Notifications are announced in cars.
        public static let allowInCarPlay = Options(rawValue: 1 << 1)
        /// The title is shown although the user has hidden previews.
        public static let hiddenPreviewsShowTitle = Options(rawValue: 1 << 2)
        /// The subtitle is shown although the user has hidden previews.
        public static let hiddenPreviewsShowSubtitle = Options(rawValue: 1 << 3)
    }
}

/// A button of a notification: `UNNotificationAction` and `UNTextInputNotificationAction`.
public struct NotificationAction: Hashable, Sendable {
    /// The name that the app receives when the user chooses the action.
    public var id: String
    /// The text of the button.
    public var title: String
    /// How the action is shown and performed.
    public var options: Options
    /// The field of an action with text; nil for one without.
    public var textInput: TextInput?
    /// The image beside the title. It isn't among what the system returns.
    public var icon: Icon?

    /// Creates an action.
    public init(
        id: String, title: String, options: Options = [], textInput: TextInput? = nil, icon: Icon? = nil
    ) {
        self.id = id
        self.title = title
        self.options = options
        self.textInput = textInput
        self.icon = icon
    }

    /// The image of an action: `UNNotificationActionIcon`.
    public enum Icon: Hashable, Sendable {
        /// A symbol of the system, such as `arrowshape.turn.up.left`.
        case system(String)
        /// A template image of the app's bundle.
        case template(String)
    }

    /// How an action is shown and performed: `UNNotificationActionOptions`.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Creates options from bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The user must unlock the device first.
        public static let authenticationRequired = Options(rawValue: 1 << 0)
        /// The action is shown as one that destroys something.
        public static let destructive = Options(rawValue: 1 << 1)
        /// The app is opened.
        public static let foreground = Options(rawValue: 1 << 2)
    }

    /// The field in which the user writes.
    public struct TextInput: Hashable, Sendable {
        /// The text of the button that sends.
        public var buttonTitle: String
        /// What is shown in the empty field.
        public var placeholder: String

        /// Creates a field.
        public init(buttonTitle: String, placeholder: String = "") {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }
    }
}
