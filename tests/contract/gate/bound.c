/* A library with a lookup of its own. */
#include <dlfcn.h>

void *find(void *library, const char *name) { return dlsym(library, name); }
