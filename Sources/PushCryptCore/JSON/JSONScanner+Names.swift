extension JSONScanner {
    /// Above so many members each with each costs more than hashing, and would be quadratic.
    private static var mostComparedInPairs: Int { 32 }

    /// - Parameter object: tape index of an object whose last member is the end of the tape.
    func refuseDuplicateNames(in object: Int) throws(JSONError) {
        let first = object + 1
        var name = first
        var count = 0
        while name < tape.count {
            if count == Self.mostComparedInPairs || tape[name].hasEscapes {
                return try refuseDuplicateNamesByHashing(from: first)
            }
            var earlier = first
            while earlier < name {
                if isSameUnescaped(earlier, name) { throw JSONError(.duplicateName, at: Int(tape[name].start)) }
                earlier = nameAfter(earlier)
            }
            name = nameAfter(name)
            count += 1
        }
    }

    /// `Set` hashes with a seed of its own, so that nobody can choose names that collide.
    private func refuseDuplicateNamesByHashing(from first: Int) throws(JSONError) {
        var seen = Set<ArraySlice<UInt8>>()
        var name = first
        while name < tape.count {
            let node = tape[name]
            let content = bytes[node.contentRange]
            JSONSteps.add(content.count + 1)
            let isNew = seen.insert(node.hasEscapes ? JSONEscape.removed(from: content)[...] : content).inserted
            guard isNew else { throw JSONError(.duplicateName, at: Int(node.start)) }
            name = nameAfter(name)
        }
    }

    private func nameAfter(_ name: Int) -> Int {
        Int(tape[name + 1].next)
    }

    private func isSameUnescaped(_ left: Int, _ right: Int) -> Bool {
        let left = tape[left].contentRange
        let right = tape[right].contentRange
        JSONSteps.add(1)
        guard left.count == right.count else { return false }
        JSONSteps.add(left.count)
        for offset in 0..<left.count where bytes[left.lowerBound + offset] != bytes[right.lowerBound + offset] {
            return false
        }
        return true
    }
}
