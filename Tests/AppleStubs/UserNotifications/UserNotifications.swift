// Apple's API as documented, as far as the adapters use it.
