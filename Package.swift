// swift-tools-version: 6.2

import PackageDescription

// A package that depends on this one resolves every package that any of the products reaches, whatever the conditions on
// platforms say. So what only tests need is named in no target that a product reaches.
#if os(Linux)
let backend: [Target.Dependency] = ["PushCryptOpenSSL"]
let processCalls: [Target.Dependency] = ["CPushCryptProcess"]
let sqlite: [Target.Dependency] = ["CPushCryptSQLite"]
let openSSL: String? = "libcrypto"
// Libraries and programs that the branch for Apple's systems doesn't have.
let linuxTargets: [Target] = [
    .systemLibrary(name: "CPushCryptSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Functions that Swift can't call.
    .systemLibrary(name: "CPushCryptProcess"),
    // Tests/deep/faults/run runs it, and so do the tests of the backends.
    .executableTarget(
        name: "PushCryptFaults",
        dependencies: [
            "PushCryptPrimitives", "PushCryptOpenSSL", "CPushCryptOpenSSL", "PushCryptCore", "PushCryptHPKE",
            "PushCryptKeysets", "PushCryptKeystore", "PushCryptSender", "PushCryptExtension",
        ],
        path: "Tests/deep/faults/Program"),
    // Tests/deep/timing/run runs it.
    .executableTarget(
        name: "PushCryptTiming", dependencies: ["PushCryptPrimitives", "PushCryptCore"],
        path: "Tests/deep/timing/Program"),
]
let faults: [Target.Dependency] = ["PushCryptFaults"]
// The tests run with both backends: CryptoKit's interface is swift-crypto's here.
let cryptoKitPackages: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-crypto", "3.12.0"..<"5.0.0")
]
let cryptoKit: [Target.Dependency] = [.product(name: "Crypto", package: "swift-crypto")]
// Apple's frameworks are on Apple's systems only. The adapters are compiled here for the tests, against stub modules.
let appleProducts: [Product] = []
let appleFrameworks: [Target.Dependency] = ["UserNotifications", "Intents", "Security"]
let appleUIFrameworks: [Target.Dependency] = appleFrameworks + ["UserNotificationsUI"]
let appleStubs: [Target] = [
    .target(name: "UserNotifications", path: "Tests/AppleStubs/UserNotifications"),
    .target(
        name: "UserNotificationsUI", dependencies: ["UserNotifications"], path: "Tests/AppleStubs/UserNotificationsUI"),
    .target(name: "Intents", dependencies: ["UserNotifications"], path: "Tests/AppleStubs/Intents"),
    .target(name: "UIKit", dependencies: ["UserNotificationsUI"], path: "Tests/AppleStubs/UIKit"),
    .target(name: "Security", dependencies: cryptoKit, path: "Tests/AppleStubs/Security"),
]
let appleExamples: [Target.Dependency] = ["UIKit"]
let testsOfStubs: [String] = []
let testsOfExampleApp: [String] = []
// Here a resource would link all of Foundation to every product.
let privacyManifest: [Resource] = []
let unusedPrivacyManifest = ["PrivacyInfo.xcprivacy"]
#else
import Foundation

// No target that an app links names a system library: CryptoKit and SQLite are part of the SDK. A condition on platforms
// doesn't help: Xcode's build plan loses it one edge further down, and the app would link Homebrew's libcrypto.
let backend: [Target.Dependency] = ["PushCryptCryptoKit"]
let processCalls: [Target.Dependency] = []
let sqlite: [Target.Dependency] = []
// Xcode warns of each system library that pkg-config doesn't find, also in an app that reaches none. So the manifest asks only for
// one that is there.
let openSSL =
    ["/opt/homebrew/opt/openssl@3", "/usr/local/opt/openssl@3", "/opt/local/lib/pkgconfig/libcrypto.pc"]
        .contains { FileManager.default.fileExists(atPath: $0) } || Context.environment["PKG_CONFIG_PATH"] != nil
    ? "libcrypto" : nil
let linuxTargets: [Target] = []
let faults: [Target.Dependency] = []
let cryptoKitPackages: [Package.Dependency] = []
let cryptoKit: [Target.Dependency] = []
let appleProducts: [Product] = [
    .library(name: "PushCryptApple", targets: ["PushCryptApple"]),
    .library(name: "PushCryptAppleUI", targets: ["PushCryptAppleUI"]),
]
let appleFrameworks: [Target.Dependency] = []
let appleUIFrameworks: [Target.Dependency] = []
let appleStubs: [Target] = []
let appleExamples: [Target.Dependency] = []
// Tests that read or set what only the stubs have.
let testsOfStubs = ["App", "Keychain", "Content/CommunicationStageTests.swift", "Content/SystemAttachmentTests.swift"]
let testsOfExampleApp = ["App"]
// PushCryptFiles is the only target with calls that need a reason, and every product with these calls contains it.
let privacyManifest: [Resource] = [.process("PrivacyInfo.xcprivacy")]
let unusedPrivacyManifest: [String] = []
#endif

// Coverage-guided fuzzing (Tests/Fuzz/run). libFuzzer brings its own `main`, so the tool is a library without its own.
let isFuzzing = Context.environment["PUSHCRYPT_FUZZING"] == "1"
let fuzzer: [Target] = [
    .executableTarget(name: "pushcrypt-fuzz", dependencies: ["PushCryptFuzzTargets"], path: "Tests/Fuzz/Runner")
]

let package = Package(
    name: "pushcrypt",
    platforms: [.iOS(.v16), .macOS(.v13), .macCatalyst(.v16), .watchOS(.v9), .tvOS(.v16), .visionOS(.v1)],
    products: [
        // For Linux and macOS only: it needs OpenSSL.
        .library(name: "PushCryptSender", targets: ["PushCryptSender"]),
        .library(name: "PushCryptExtension", targets: ["PushCryptExtension"]),
        .library(name: "PushCryptCore", targets: ["PushCryptCore"]),
        .library(name: "PushCryptSimulator", targets: ["PushCryptSimulator"]),
    ] + appleProducts,
    traits: [
        .default(enabledTraits: ["Sender"]),
        .trait(
            name: "Sender",
            description: "PushCryptSender, which logs through swift-log. A package that only opens pushes can turn it "
                + "off with `traits: []`; it then resolves no other package."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ] + cryptoKitPackages,
    targets: [
        .systemLibrary(
            name: "CPushCryptOpenSSL",
            pkgConfig: openSSL,
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .target(name: "PushCryptPrimitives"),
        .target(
            name: "PushCryptFiles",
            dependencies: ["PushCryptPrimitives"] + processCalls,
            exclude: unusedPrivacyManifest,
            resources: privacyManifest
        ),
        .target(name: "PushCryptOpenSSL", dependencies: ["PushCryptPrimitives", "CPushCryptOpenSSL"]),
        .target(name: "PushCryptCryptoKit", dependencies: ["PushCryptPrimitives"] + cryptoKit),
        .target(name: "PushCryptHPKE", dependencies: ["PushCryptPrimitives"]),
        .target(name: "PushCryptCore", dependencies: ["PushCryptPrimitives", "PushCryptHPKE"] + backend),
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
                "PushCryptPrimitives", "PushCryptFiles", "PushCryptCore", "PushCryptKeysets",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Sender"])),
            ]
        ),
        .target(
            name: "PushCryptSQLite",
            dependencies: ["PushCryptPrimitives", "PushCryptFiles"] + sqlite
        ),
        .target(
            name: "PushCryptExtension",
            dependencies: ["PushCryptPrimitives", "PushCryptFiles", "PushCryptCore", "PushCryptSQLite"]),
        .target(
            name: "PushCryptApple",
            dependencies: ["PushCryptPrimitives", "PushCryptCore", "PushCryptExtension"] + appleFrameworks
        ),
        // Links UIKit, which would take memory from a notification service extension.
        .target(
            name: "PushCryptAppleUI",
            dependencies: ["PushCryptPrimitives", "PushCryptApple"] + appleUIFrameworks),
        .target(
            name: "PushCryptSimulator",
            dependencies: ["PushCryptPrimitives", "PushCryptFiles", "PushCryptCore", "PushCryptExtension"]),
        .target(
            name: "PushCryptKeystore",
            dependencies: [
                "PushCryptPrimitives", "PushCryptCore", "PushCryptFiles", "PushCryptKeysets",
                .target(name: "PushCryptOpenSSL", condition: .when(platforms: [.linux, .macOS])),
            ]
        ),
        .target(
            name: "PushCryptRecipients",
            dependencies: ["PushCryptPrimitives", "PushCryptFiles", "PushCryptCore", "PushCryptSQLite"]),
        // Named like the tool and not declared as a product: SwiftPM makes the product for this package itself, and packages
        // that depend on it don't resolve what only the tool needs.
        .executableTarget(
            name: "pushcrypt",
            dependencies: [
                "PushCryptPrimitives", "PushCryptFiles", "PushCryptSender", "PushCryptExtension", "PushCryptKeystore",
                "PushCryptRecipients", "PushCryptSimulator", "PushCryptSQLite",
                .target(name: "PushCryptOpenSSL", condition: .when(platforms: [.linux, .macOS])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Sender"])),
            ],
            path: "Sources/PushCryptCLI"
        ),
        .target(
            name: "PushCryptTestSupport",
            dependencies: [
                "PushCryptPrimitives", "PushCryptFiles", "PushCryptCore", "PushCryptKeysets", "PushCryptCryptoKit",
                "PushCryptOpenSSL",
            ],
            path: "Tests/Support"
        ),
        .testTarget(
            name: "PushCryptBackendTests", dependencies: ["PushCryptTestSupport"] + faults),
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
                "PushCryptApple", "PushCryptAppleUI", "PushCryptSimulator", "PushCryptSender",
                "PushCryptTestSupport", "PushCryptTestExtension",
                .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
            ] + appleUIFrameworks,
            exclude: testsOfStubs
        ),
        .testTarget(
            name: "PushCryptSimulatorTests",
            dependencies: [
                "PushCryptSimulator", "PushCryptSender", "PushCryptTestSupport",
            ]),
        // An extension in a process of its own, for what happens to it when the system kills it.
        .executableTarget(
            name: "PushCryptTestExtension",
            dependencies: ["PushCryptExtension", "PushCryptSQLite", "PushCryptApple"]
                + appleFrameworks,
            path: "Tests/ExtensionProcess"),
        // A program whose system calls are steps: tests run it in every order with another one, and kill it at each step. No
        // test target depends on it, because SwiftPM would link its system calls into the tests.
        .target(name: "CPushCryptSteppedCalls", path: "Tests/SteppedProcess/SystemCalls"),
        .executableTarget(
            name: "PushCryptSteppedProcess",
            dependencies: [
                "CPushCryptSteppedCalls", "PushCryptFiles", "PushCryptCore", "PushCryptKeysets", "PushCryptKeystore",
                "PushCryptSender", "PushCryptExtension", "PushCryptPrimitives",
            ],
            path: "Tests/SteppedProcess/Program"),
        // Tests/deep/soak/run runs it.
        .executableTarget(
            name: "PushCryptSoak", dependencies: ["PushCryptCore", "PushCryptExtension", "PushCryptSender"],
            path: "Tests/deep/soak/Program"),
        // Random lives of a keystore. Tests/deep/keystore/run searches a million of them for one that breaks.
        .target(
            name: "PushCryptLives", dependencies: ["PushCryptKeystore", "PushCryptKeysets", "PushCryptTestSupport"],
            path: "Tests/Lives"),
        .executableTarget(
            name: "PushCryptLifeSearch", dependencies: ["PushCryptLives"], path: "Tests/deep/keystore/Program"),
        // Tests/deep/memory/run runs it.
        .executableTarget(
            name: "PushCryptMemory",
            dependencies: ["PushCryptCore", "PushCryptKeysets", "PushCryptSender", "PushCryptExtension"],
            path: "Tests/deep/memory/Program"),
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
                "PushCryptKeystore", "PushCryptLives", "PushCryptTestSupport",
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
                "PushCryptSender", "PushCryptApple", "PushCryptAppleUI", "PushCryptSimulator",
                "PushCryptTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "FlyingFox", package: "FlyingFox"), .product(name: "FlyingSocks", package: "FlyingFox"),
            ] + appleUIFrameworks + appleExamples,
            exclude: testsOfExampleApp
        ),
        .testTarget(
            name: "PushCryptCLITests",
            dependencies: [
                "pushcrypt", "PushCryptExtension", "PushCryptKeystore", "PushCryptSender", "PushCryptSQLite",
                "PushCryptSimulator", "PushCryptTestSupport",
            ]),
        .target(
            name: "PushCryptFuzzTargets",
            dependencies: [
                "PushCryptPrimitives", "PushCryptCore", "PushCryptHPKE", "PushCryptExtension",
                "PushCryptKeysets", "PushCryptKeystore", "PushCryptRecipients", "pushcrypt",
            ],
            path: "Tests/Fuzz/Targets"),
        .testTarget(name: "PushCryptFuzzTests", dependencies: ["PushCryptFuzzTargets", "PushCryptTestSupport"]),
    ] + (isFuzzing ? fuzzer : []) + linuxTargets + appleStubs,
    swiftLanguageModes: [.v6]
)

if isFuzzing, let tool = package.targets.first(where: { $0.name == "pushcrypt" }) {
    package.targets.removeAll { $0.name == "pushcrypt" }
    package.targets.append(
        .target(name: tool.name, dependencies: tool.dependencies, path: tool.path, exclude: ["Main.swift"]))
}

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
    // In CI no check reads debug information, and nothing is built again after a change.
    if Context.environment["PUSHCRYPT_WARNINGS_AS_ERRORS"] != nil {
        settings += [
            .treatAllWarnings(as: .error), .unsafeFlags(["-gnone"]),
            .unsafeFlags(["-wmo", "-disable-batch-mode", "-num-threads", "2"], .when(configuration: .debug)),
        ]
    }
    target.swiftSettings = settings
}
