#pragma once

// The first systems with a declaration. visionOS has all of them.
#define INTRODUCED(macos_, ios_, tvos_, watchos_)                                                                       \
    __attribute__((availability(macos, introduced = macos_))) __attribute__((availability(ios, introduced = ios_)))     \
    __attribute__((availability(tvos, introduced = tvos_))) __attribute__((availability(watchos, introduced = watchos_)))\
    __attribute__((availability(visionos, introduced = 1.0)))
#define NOT_ON_TV_AND_WATCH                                                                                             \
    __attribute__((availability(tvos, unavailable))) __attribute__((availability(watchos, unavailable)))
