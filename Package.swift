// swift-tools-version: 6.2

import PackageDescription

let applePlatforms: [Platform] = [.iOS, .macOS, .macCatalyst, .watchOS, .tvOS, .visionOS]

// Apple's frameworks are on Apple's systems only. On Linux the adapters are compiled for the tests, against stub modules
// that no product reaches.
#if os(Linux)
let appleProducts: [Product] = []
let appleFrameworks: [Target.Dependency] = ["UserNotifications", "Security"]
let appleStubs: [Target] = [
    .target(name: "UserNotifications", path: "Tests/AppleStubs/UserNotifications"),
    .target(
        name: "Security", dependencies: [.product(name: "Crypto", package: "swift-crypto")],
        path: "Tests/AppleStubs/Security"),
    .target(
        name: "PushCryptExampleExtension", dependencies: ["PushCryptApple"] + appleFrameworks,
        path: "Examples/iOSExtension",
        exclude: ["App.entitlements", "Info.plist", "NotificationService.entitlements"]),
]
let appleExamples: [Target.Dependency] = ["PushCryptExampleExtension"]
#else
let appleProducts: [Product] = [.library(name: "PushCryptApple", targets: ["PushCryptApple"])]
let appleFrameworks: [Target.Dependency] = []
let appleStubs: [Target] = []
let appleExamples: [Target.Dependency] = []
#endif

let package = Package(
    name: "pushcrypt",
    platforms: [.iOS(.v16), .macOS(.v13), .macCatalyst(.v16), .watchOS(.v9), .tvOS(.v16), .visionOS(.v1)],
    products: [
        .library(name: "PushCryptSender", targets: ["PushCryptSender"]),
        .library(name: "PushCryptExtension", targets: ["PushCryptExtension"]),
        .library(name: "PushCryptCore", targets: ["PushCryptCore"]),
        .executable(name: "pushcrypt", targets: ["PushCryptCLI"]),
    ] + appleProducts,
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CPushCryptOpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CPushCryptSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        // A function of Linux that Swift can't call.
        .systemLibrary(name: "CPushCryptProcess"),
        .target(name: "PushCryptPrimitives"),
        .target(name: "PushCryptFiles", dependencies: ["PushCryptPrimitives"]),
        .target(name: "PushCryptOpenSSL", dependencies: ["PushCryptPrimitives", "CPushCryptOpenSSL"]),
        .target(
            name: "PushCryptCryptoKit",
            dependencies: [
                "PushCryptPrimitives",
                // For the tests on Linux; no product reaches this target there.
                .product(name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux])),
            ]
        ),
        .target(name: "PushCryptHPKE", dependencies: ["PushCryptPrimitives"]),
        .target(
            name: "PushCryptCore",
            dependencies: [
                "PushCryptPrimitives", "PushCryptHPKE",
                .target(name: "PushCryptOpenSSL", condition: .when(platforms: [.linux])),
                .target(name: "PushCryptCryptoKit", condition: .when(platforms: applePlatforms)),
            ]
        ),
        .target(
            name: "PushCryptKeysets",
            dependencies: [
                "PushCryptPrimitives", "PushCryptFiles", "PushCryptCore",
                .target(name: "PushCryptOpenSSL", condition: .when(platforms: [.linux, .macOS])),
            ]
        ),
        .target(
            name: "PushCryptSender",
            dependencies: [
                "PushCryptPrimitives", "PushCryptCore", "PushCryptKeysets",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "PushCryptSQLite",
            dependencies: [
                "PushCryptPrimitives", "PushCryptFiles",
                .target(name: "CPushCryptSQLite", condition: .when(platforms: [.linux])),
            ]
        ),
        .target(
            name: "PushCryptExtension",
            dependencies: ["PushCryptPrimitives", "PushCryptFiles", "PushCryptCore", "PushCryptSQLite"]),
        .target(
            name: "PushCryptApple",
            dependencies: ["PushCryptPrimitives", "PushCryptCore", "PushCryptExtension"] + appleFrameworks
        ),
        .target(name: "PushCryptSimulator", dependencies: ["PushCryptExtension"]),
        .target(
            name: "PushCryptKeystore",
            dependencies: [
                "PushCryptPrimitives", "PushCryptCore", "PushCryptFiles", "PushCryptKeysets",
                .target(name: "PushCryptOpenSSL", condition: .when(platforms: [.linux, .macOS])),
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ]
        ),
        .target(
            name: "PushCryptRecipients",
            dependencies: ["PushCryptPrimitives", "PushCryptFiles", "PushCryptCore", "PushCryptSQLite"]),
        .executableTarget(
            name: "PushCryptCLI",
            dependencies: [
                "PushCryptPrimitives", "PushCryptFiles", "PushCryptSender", "PushCryptExtension", "PushCryptKeystore",
                "PushCryptRecipients",
                .target(name: "CPushCryptProcess", condition: .when(platforms: [.linux])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(
            name: "PushCryptTestSupport",
            dependencies: ["PushCryptPrimitives", "PushCryptCryptoKit", "PushCryptOpenSSL"],
            path: "Tests/Support"
        ),
        .testTarget(name: "PushCryptBackendTests", dependencies: ["PushCryptTestSupport"]),
        .testTarget(name: "PushCryptFilesTests", dependencies: ["PushCryptFiles", "PushCryptTestSupport"]),
        .testTarget(name: "PushCryptHPKETests", dependencies: ["PushCryptHPKE", "PushCryptTestSupport"]),
        .testTarget(name: "PushCryptCoreTests", dependencies: ["PushCryptCore", "PushCryptTestSupport"]),
        .testTarget(
            name: "PushCryptSenderTests",
            dependencies: [
                "PushCryptSender", "PushCryptKeystore", "PushCryptExtension", "PushCryptTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
            ]
        ),
        .testTarget(name: "PushCryptSQLiteTests", dependencies: ["PushCryptSQLite", "PushCryptTestSupport"]),
        .testTarget(
            name: "PushCryptExtensionTests",
            dependencies: [
                "PushCryptExtension", "PushCryptSimulator", "PushCryptSender", "PushCryptSQLite",
                "PushCryptTestSupport", "PushCryptTestExtension",
            ]
        ),
        .testTarget(
            name: "PushCryptAppleTests",
            dependencies: [
                "PushCryptApple", "PushCryptSimulator", "PushCryptSender", "PushCryptTestSupport",
                "PushCryptTestExtension",
                .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
            ] + appleFrameworks
        ),
        // An extension in a process of its own, for what happens to it when the system kills it.
        .executableTarget(
            name: "PushCryptTestExtension",
            dependencies: ["PushCryptExtension", "PushCryptSQLite", "PushCryptApple"]
                + appleFrameworks,
            path: "Tests/ExtensionProcess"),
        .testTarget(
            name: "PushCryptPropertyTests",
            dependencies: ["PushCryptExtension", "PushCryptSender", "PushCryptTestSupport"]
        ),
        .testTarget(
            name: "PushCryptInteropTests",
            dependencies: [
                "PushCryptExtension", "PushCryptSender", "PushCryptKeysets", "PushCryptKeystore",
                "PushCryptTestSupport",
            ],
            path: "Tests/Interop",
            exclude: ["python"]
        ),
        .testTarget(
            name: "PushCryptKeysetsTests",
            dependencies: ["PushCryptKeysets", "PushCryptKeystore", "PushCryptTestSupport"]),
        .testTarget(
            name: "PushCryptKeystoreTests",
            dependencies: [
                "PushCryptKeystore", "PushCryptTestSupport", .product(name: "SwiftASN1", package: "swift-asn1"),
            ]
        ),
        .testTarget(
            name: "PushCryptRecipientsTests",
            dependencies: [
                "PushCryptRecipients", "PushCryptSQLite", "PushCryptSender", "PushCryptExtension",
                "PushCryptTestSupport",
            ]),
        .testTarget(
            name: "PushCryptREADMETests",
            dependencies: [
                "PushCryptSender", "PushCryptApple", "PushCryptKeystore", "PushCryptTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ] + appleFrameworks + appleExamples
        ),
        .testTarget(
            name: "PushCryptCLITests",
            dependencies: ["PushCryptCLI", "PushCryptExtension", "PushCryptKeystore", "PushCryptTestSupport"]),
    ] + appleStubs,
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    var settings: [SwiftSetting] = [
        // `Span` results of computed properties need it until the language has a spelling for lifetimes.
        .enableExperimentalFeature("Lifetimes"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    if target.name != "PushCryptOpenSSL" {
        settings.append(.strictMemorySafety())
    }
    if Context.environment["PUSHCRYPT_WARNINGS_AS_ERRORS"] != nil {
        settings.append(.treatAllWarnings(as: .error))
    }
    target.swiftSettings = settings
}
