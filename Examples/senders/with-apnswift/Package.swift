// swift-tools-version: 6.2

import PackageDescription

// The folder has another name than the dependency: SwiftPM takes a package's identity from its folder.
let package = Package(
    name: "sealed-pushes",
    platforms: [.macOS(.v13)],
    products: [.library(name: "SealedPushes", targets: ["SealedPushes"])],
    dependencies: [
        .package(name: "pushcrypt", path: "../../.."),
        .package(url: "https://github.com/swift-server-community/APNSwift", from: "6.0.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.58.0"),
    ],
    targets: [
        .target(
            name: "SealedPushes",
            dependencies: [
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "APNS", package: "APNSwift"),
                .product(name: "APNSCore", package: "APNSwift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ])
    ])
