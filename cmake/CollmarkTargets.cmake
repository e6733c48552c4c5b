# What every target of the project shares: warnings, sanitizers, include root, tests beside the sources.
include_guard()
include(GoogleTest)

add_library(collmark_flags INTERFACE)
target_include_directories(collmark_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(collmark_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wdouble-promotion
  -ffp-contract=off)  # a + b*c must round twice everywhere, or results differ from machine to machine
if(COLLMARK_WERROR)
  target_compile_options(collmark_flags INTERFACE -Werror)
endif()
if(COLLMARK_SANITIZE)
  target_compile_options(collmark_flags INTERFACE
    -fsanitize=${COLLMARK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)  # a finding ends the test
  target_link_options(collmark_flags INTERFACE -fsanitize=${COLLMARK_SANITIZE})
endif()

# collmark_library(NAME DEPENDS...): every x.cpp of this folder that is neither a test nor a program.
function(collmark_library name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|main)\\.cpp$")
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${COLLMARK_UNITY})  # eight at a time
  target_link_libraries(${name} PUBLIC collmark_flags ${ARGN})
endfunction()

# collmark_tests(LIBRARY): every x_test.cpp of this folder, in one program LIBRARY_test.
function(collmark_tests library)
  file(GLOB sources CONFIGURE_DEPENDS *_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${library}_test ${sources})
  target_link_libraries(${library}_test PRIVATE ${library} GTest::gtest GTest::gmock GTest::gtest_main)
  # What takes times of a quiet machine for granted runs alone; the rest two at a time.
  set(alone "FlagTime.*:LinkMatrix.*:StreamBound*:Measure*")
  gtest_discover_tests(${library}_test DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
    TEST_FILTER "-${alone}" TEST_LIST ${library}_together PROPERTIES TIMEOUT 1800)
  gtest_discover_tests(${library}_test DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES
    TEST_FILTER "${alone}" TEST_LIST ${library}_alone PROPERTIES TIMEOUT 1800 RUN_SERIAL ON)
endfunction()
