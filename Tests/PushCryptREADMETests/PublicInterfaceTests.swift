import Foundation
import Testing

/// Rules for the public declarations of the libraries.
@Suite("public interface") struct PublicInterfaceTests {
    @Test("each public error type of the libraries is a DescribedError, so that it has a localizedDescription")
    func errors() {
        let declaration = #/public (?:struct|enum|final class) (\w+):([^{]*)\{/#
        var names: [String] = []
        for folder in Sources.folders {
            for declared in Sources.texts(in: "Sources/" + folder).values.flatMap({ $0.matches(of: declaration) }) {
                let parents = declared.2.split { !$0.isLetter }
                #expect(!parents.contains("Error"), "\(declared.1)")
                if parents.contains("DescribedError") { names.append(String(declared.1)) }
            }
        }
        #expect(names.count >= 14, "\(names)")
    }

    @Test("each public function of Core and Sender takes bytes as any collection or a span, and not as an array")
    func bytes() {
        let declaration = #/public (?:convenience |static )?(?:func|init)[^{]*/#
        var count = 0
        for folder in ["PushCryptCore", "PushCryptSender"] {
            for function in Sources.texts(in: "Sources/" + folder).values.flatMap({ $0.matches(of: declaration) }) {
                #expect(!function.0.contains(#/: (\[UInt8\]|Data)/#), "\(function.0)")
                if function.0.contains("some Collection<UInt8>") { count += 1 }
            }
        }
        #expect(count >= 15)
    }
}
