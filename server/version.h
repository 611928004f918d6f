/* version: what this program was built from: "0.1.0 (7894d2d0a1)". Made by cmake/version.cmake. */
#ifndef SERVER_VERSION_H
#define SERVER_VERSION_H

extern const char stowage_version[];

#endif
