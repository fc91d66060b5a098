// The values are the documented names. The system's values are undocumented four-letter codes.

public let kSecClass: CFString = "kSecClass"
public let kSecClassGenericPassword: CFString = "kSecClassGenericPassword"
public let kSecClassKey: CFString = "kSecClassKey"

public let kSecAttrAccessGroup: CFString = "kSecAttrAccessGroup"
public let kSecAttrAccessible: CFString = "kSecAttrAccessible"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString =
    "kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly"
@available(iOS 8, macOS 10.10, watchOS 2, tvOS 9, visionOS 1, *)
public let kSecAttrAccessControl: CFString = "kSecAttrAccessControl"
public let kSecAttrAccount: CFString = "kSecAttrAccount"
public let kSecAttrApplicationTag: CFString = "kSecAttrApplicationTag"
public let kSecAttrGeneric: CFString = "kSecAttrGeneric"
public let kSecAttrIsPermanent: CFString = "kSecAttrIsPermanent"
public let kSecAttrKeyClass: CFString = "kSecAttrKeyClass"
public let kSecAttrKeyClassPublic: CFString = "kSecAttrKeyClassPublic"
public let kSecAttrKeySizeInBits: CFString = "kSecAttrKeySizeInBits"
public let kSecAttrKeyType: CFString = "kSecAttrKeyType"
@available(iOS 10, macOS 10.12, watchOS 3, tvOS 10, visionOS 1, *)
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "kSecAttrKeyTypeECSECPrimeRandom"
public let kSecAttrLabel: CFString = "kSecAttrLabel"
public let kSecAttrService: CFString = "kSecAttrService"
@available(iOS 9, macOS 10.12, watchOS 2, tvOS 9, visionOS 1, *)
public let kSecAttrTokenID: CFString = "kSecAttrTokenID"
@available(iOS 9, macOS 10.12, watchOS 2, tvOS 9, visionOS 1, *)
public let kSecAttrTokenIDSecureEnclave: CFString = "kSecAttrTokenIDSecureEnclave"
public let kSecPrivateKeyAttrs: CFString = "kSecPrivateKeyAttrs"

public let kSecMatchLimit: CFString = "kSecMatchLimit"
public let kSecMatchLimitAll: CFString = "kSecMatchLimitAll"
public let kSecMatchLimitOne: CFString = "kSecMatchLimitOne"
public let kSecReturnAttributes: CFString = "kSecReturnAttributes"
public let kSecReturnData: CFString = "kSecReturnData"
public let kSecReturnRef: CFString = "kSecReturnRef"
@available(iOS 13, macOS 10.15, watchOS 6, tvOS 13, visionOS 1, *)
public let kSecUseDataProtectionKeychain: CFString = "kSecUseDataProtectionKeychain"
public let kSecValueData: CFString = "kSecValueData"
public let kSecValueRef: CFString = "kSecValueRef"

public let errSecSuccess: OSStatus = 0
public let errSecParam: OSStatus = -50
public let errSecNotAvailable: OSStatus = -25291
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecDecode: OSStatus = -26275
public let errSecMissingEntitlement: OSStatus = -34018
