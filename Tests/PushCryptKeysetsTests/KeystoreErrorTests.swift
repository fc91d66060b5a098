import PushCryptFiles
import PushCryptKeysets
import Testing

@Suite("KeystoreError of a file error") struct KeystoreErrorTests {
    private static let codes: [(FileError.Code, KeystoreError.Code)] = [
        (.notFound, .notFound), (.alreadyExists, .alreadyExists), (.cannotCreate, .cannotCreate),
        (.noPermission, .noPermission), (.foreignOwner, .foreignOwner), (.looseMode, .looseMode),
        (.changedMeanwhile, .changedMeanwhile), (.notAFile, .notAKeyset), (.tooLong, .notAKeyset),
        (.noSpace, .inputOutput), (.busy, .inputOutput),
    ]

    @Test("a file error becomes the keystore error with the matching code", arguments: codes)
    func matches(_ file: FileError.Code, _ keystore: KeystoreError.Code) {
        #expect(KeystoreError(FileError(file, "Keys", "the reason")).code == keystore)
    }
}
