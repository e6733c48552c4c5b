# Fails if an object that was compiled for one instruction set exports code that the linker could take
# for another object's: an inline function of the standard library, say, with AVX-512 inside.
execute_process(COMMAND ${NM} -A -C --extern-only --defined-only ${LIBRARY}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]*(sse2|avx2|avx512)\\.cpp\\.o:[^\n]*" exported "${symbols}")
foreach(symbol IN LISTS exported)
  if(symbol MATCHES " [TWi] ")  # code; strong, weak or chosen at load time
    message(SEND_ERROR "shared: ${symbol}")
  endif()
endforeach()
if(symbols MATCHES "collmark::avx512" AND NOT exported MATCHES "kPasses")
  message(SEND_ERROR "found none of the objects")
endif()
