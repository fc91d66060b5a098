// swift-tools-version: 6.2

import PackageDescription

/// The settings of every target.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "push-backend",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "pushcrypt", path: "../.."),
        .package(name: "pushcrypt-apns", path: "../../Senders/swift"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // The service with its command line.
        .target(
            name: "PushBackend",
            dependencies: [
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "push-service",
            dependencies: ["PushBackend", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: settings),
        // One push, without the service. It has the default settings, as a reader's package has.
        .executableTarget(
            name: "first-push",
            dependencies: [
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "PushCryptAPNs", package: "pushcrypt-apns"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // What a push costs, for Benchmarks/push.
        .executableTarget(
            name: "push-cost",
            dependencies: [
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: settings),
        .target(
            name: "BackendTestSupport",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ], path: "Tests/Support", swiftSettings: settings),
        // Those of Senders/swift, because this package compiles it anyway.
        .testTarget(
            name: "PusherTests",
            dependencies: [
                "BackendTestSupport", .product(name: "PushCryptAPNs", package: "pushcrypt-apns"),
                .product(name: "PushCryptSender", package: "pushcrypt"),
            ], swiftSettings: settings),
        .testTarget(
            name: "FirstPushTests",
            dependencies: [
                "first-push", "BackendTestSupport",
                .product(name: "PushCryptAPNs", package: "pushcrypt-apns"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "PushCryptExtension", package: "pushcrypt"),
                .product(name: "PushCryptSimulator", package: "pushcrypt"),
            ], swiftSettings: settings),
        .testTarget(
            name: "PushBackendTests",
            dependencies: [
                "PushBackend", "BackendTestSupport",
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "PushCryptExtension", package: "pushcrypt"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ], swiftSettings: settings),
    ]
)
