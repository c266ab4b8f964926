// propkernels._core: the compiled loops. Signatures are those of the C++ functions; arguments go by position.
#include "common.hpp"

#define BIND_PART(part) bind_##part(m);
NB_MODULE(_core, m) {
    EACH_PART(BIND_PART)
}
